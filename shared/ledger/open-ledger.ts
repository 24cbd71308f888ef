import type { Clock } from '../platform/clock.ts'
import { systemIds } from '../platform/ids.ts'
import type { LedgerOnlySettings } from '../platform/settings.ts'
import { toUnits } from '../platform/words.ts'
import { createDynamoClient } from './dynamo-client.ts'
import { createDynamoStore } from './dynamo-store.ts'
import { createLedger, type Ledger } from './ledger.ts'
import type { Store } from './store.ts'

/** The ledger that the settings of a process name. Nothing is read or connected before the first request. */
export function openLedger(settings: LedgerOnlySettings, own: { clock: Clock; store?: Store }): Ledger {
  const { clock } = own
  const store =
    own.store ??
    createDynamoStore({
      client: createDynamoClient(settings.DYNAMODB_ENDPOINT, settings.DYNAMODB_ACCESS_KEY),
      table: settings.TABLE_NAME,
      clock,
      ids: systemIds,
    })
  const account = {
    unitsPerMonth: toUnits(settings.ACCOUNT_UNITS_PER_MONTH),
    usedAtStart: toUnits(settings.ACCOUNT_UNITS_USED_AT_START),
    renewal: {
      day: settings.ACCOUNT_RENEWAL_DAY,
      time: settings.ACCOUNT_RENEWAL_TIME,
      zone: settings.ACCOUNT_TIME_ZONE,
    },
  }
  return createLedger({ store, clock, account })
}
