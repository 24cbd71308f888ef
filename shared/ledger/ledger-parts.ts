import type { Clock } from '../platform/clock.ts'
import { systemIds } from '../platform/ids.ts'
import type { LedgerOnlySettings } from '../platform/settings.ts'
import { type AccountSettings, accountOf, type ExpectedLedger, serviceNameOf } from './identity.ts'
import { createDynamoClient, createDynamoStore } from './store/dynamo-store.ts'
import type { Store } from './store/store.ts'
import type { LedgerParts } from './verified-views.ts'

/** The settings of the service are optional, because Slack's function does not call it. */
export type LedgerSettings = LedgerOnlySettings & {
  readonly TRACKING_BASE_URL?: string
  readonly SERVICE_FLIGHT_MS?: number
}
type IdentitySettings = AccountSettings & Pick<LedgerSettings, 'LEDGER_SERVICE' | 'LEDGER_MARKER' | 'TRACKING_BASE_URL'>

/** Nothing is read before the first request. */
export function ledgerPartsOf(
  settings: LedgerSettings,
  own: { clock: Clock; store?: Store; begins?: boolean },
): LedgerParts {
  const { clock } = own
  const store =
    own.store ??
    createDynamoStore({
      client: createDynamoClient(settings.DYNAMODB_ENDPOINT, settings.DYNAMODB_ACCESS_KEY),
      table: settings.TABLE_NAME,
      clock,
      ids: systemIds,
    })
  // On AWS only an operator begins a ledger. An empty table may be a mistake, and a new ledger allows all units again.
  const { begins = own.store !== undefined || settings.DYNAMODB_ENDPOINT !== undefined } = own
  const [account, expected] = [accountOf(settings), expectedLedgerOf(settings)]
  return { store, clock, account, expected, begins, flightMs: settings.SERVICE_FLIGHT_MS }
}

export function expectedLedgerOf(settings: IdentitySettings): ExpectedLedger {
  const { LEDGER_SERVICE: name, TRACKING_BASE_URL: baseUrl, LEDGER_MARKER: marker } = settings
  return {
    ...(marker !== undefined && { marker }),
    account: settings,
    service: name ?? (baseUrl === undefined ? undefined : serviceNameOf(baseUrl)),
  }
}
