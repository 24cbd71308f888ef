import { isSameZone } from '../platform/clock.ts'
import { digest } from '../platform/ids.ts'
import type { Marker } from '../platform/settings.ts'
import { toUnits, type Units } from '../platform/words.ts'
import type { MakeChange } from './book/changes.ts'
import { entryKey, fromEntryItem, openingId } from './book/entry.ts'
import { type Account, type Definitions, type Identity, limitOf, rootBudget } from './definitions/definitions.ts'
import { changeRenewal, latestRenewal, type Renewal } from './definitions/windows.ts'
import { LedgerUnavailable } from './errors.ts'
import type { Place, Store } from './store/store.ts'

/** Defaults. On AWS, all settings but the renewal's time are required. */
export const usualAccount: Account = {
  unitsPerMonth: toUnits(50_000),
  usedAtStart: toUnits(0),
  renewal: { day: 1, time: '00:00', zone: 'UTC' },
}

/** The service name of the stand-in, the same on every port. */
export const sandboxService = 'sandbox'

export interface AccountSettings {
  readonly ACCOUNT_UNITS_PER_MONTH?: Units | undefined
  readonly ACCOUNT_UNITS_USED_AT_START?: Units | undefined
  readonly ACCOUNT_RENEWAL_DAY?: number | undefined
  readonly ACCOUNT_RENEWAL_TIME?: string | undefined
  readonly ACCOUNT_TIME_ZONE?: string | undefined
}

export interface ExpectedLedger {
  readonly service?: string | undefined
  readonly account?: AccountSettings
  /** `null`: no ledger has begun yet. */
  readonly marker?: Marker | null
}

/** The ledger is not the expected one, so the operation did nothing. */
export class WrongLedger extends LedgerUnavailable {
  override readonly name = 'WrongLedger'
  /** For callers: does not contain the service's address. */
  readonly detail: string

  constructor(faults: readonly IdentityFault[]) {
    super(sentenceOf(faults.map(({ text }) => text)))
    this.detail = sentenceOf(faults.map(({ text, forCallers = text }) => forCallers))
  }
}

export interface IdentityFault {
  readonly text: string
  readonly forCallers?: string
}

const sentenceOf = (texts: readonly string[]) => `This ledger is not the one that is set here: ${texts.join('; ')}.`

export const accountOf = (set: AccountSettings): Account => ({
  unitsPerMonth: set.ACCOUNT_UNITS_PER_MONTH ?? usualAccount.unitsPerMonth,
  usedAtStart: set.ACCOUNT_UNITS_USED_AT_START ?? usualAccount.usedAtStart,
  renewal: {
    day: set.ACCOUNT_RENEWAL_DAY ?? usualAccount.renewal.day,
    time: set.ACCOUNT_RENEWAL_TIME ?? usualAccount.renewal.time,
    zone: set.ACCOUNT_TIME_ZONE ?? usualAccount.renewal.zone,
  },
})

/** Two spellings of one address are one service. */
export function serviceNameOf(baseUrl: string): string {
  const { protocol, host, pathname } = new URL(baseUrl)
  return `${protocol}//${host}${pathname.replace(/\/+$/, '')}`
}

const adopt = 'npm run account -- adopt'

/** @param table the id of the table. `null`: the store has no id. */
export function identityFaults(
  definitions: Definitions,
  expected: ExpectedLedger,
  { table = null, place = 'table' }: { readonly table?: string | null; readonly place?: Place | undefined } = {},
): IdentityFault[] {
  const { identity } = definitions
  if (!identity) {
    return [
      {
        text: `it was written by a version that did not note its service; if it belongs to the service and the account that are set here, say so once with ${adopt}`,
      },
    ]
  }
  return [
    ...tableFaults(identity, expected.marker ?? null, { table, place }),
    ...serviceFaults(identity, expected.service),
    ...settingFaults(definitions, identity, expected.account ?? {}),
  ]
}

const accept = 'npm run restore -- accept'
const again = { table: 'deploy again', file: 'start again' } as const

/** A copy of a ledger lacks the runs since the copy, so it would allow their units again. */
function tableFaults(
  identity: Identity,
  marker: Marker | null,
  { table, place }: { table: string | null; place: Place },
): IdentityFault[] {
  const { ledger, epoch = 0, replacedBy } = identity
  if (replacedBy !== undefined) return [replaced(place, replacedBy)]
  if (identity.table !== undefined && table !== null && identity.table !== table) {
    const ifMoved = place === 'file' ? '; if you moved its folder here, run npm run account -- moved' : ''
    return [
      {
        text: `this ${place} is a copy of the ledger ${ledger}, and lacks the updates that ran since: use the original, or accept this one with ${accept}${ifMoved}`,
      },
    ]
  }
  if (!marker) return []
  if (marker.ledger !== ledger)
    return [
      {
        text: `this ${place} holds the ledger ${ledger}, but the marker expects the ledger ${marker.ledger} in ${marker.tableName}`,
      },
    ]
  if (marker.epoch === epoch) return []
  return [
    {
      text: `this ${place} has epoch ${epoch}, but the marker expects epoch ${marker.epoch} in ${marker.tableName}: ${again[place]}; if this ${place} was restored, accept it first with ${accept}`,
    },
  ]
}

const replaced = (place: Place, by: string): IdentityFault => ({
  text: `this ${place} was replaced by the table ${by}: deploy with that one`,
})

export function epochFaults({ identity }: Definitions, began: number, place: Place = 'table'): IdentityFault[] {
  if (identity?.replacedBy !== undefined) return [replaced(place, identity.replacedBy)]
  const { epoch = 0 } = identity ?? {}
  if (epoch === began) return []
  return [
    {
      text: `this ${place} was accepted as restored (epoch ${epoch}) after this process began (epoch ${began}): ${again[place]}`,
    },
  ]
}

export function emptyFault(marker: Marker | null | undefined, place: Place = 'table'): IdentityFault {
  if (!marker) return { text: `the ${place} holds no ledger yet: begin it once with npm run account -- begin` }
  const remedy = {
    table: `is in the table ${marker.tableName}: name that one (on AWS -c ledgerTable=… -c ledgerStream=…)`,
    file: 'is named by the marker beside it: mount its disk, or restore a backup with npm run restore -- from <file>',
  }
  return { text: `the ${place} is empty, and the ledger ${marker.ledger} ${remedy[place]}` }
}

function serviceFaults({ service }: Identity, here: string | undefined): IdentityFault[] {
  if (here === undefined || service === null || here === service) return []
  const remedy = 'use the service that it began with, or another ledger (DATA_DIR, or another deployment)'
  return [
    {
      text: `it began with the service ${service}, but the service set now is ${here}: ${remedy}; if the same account has moved to a new address, say so with ${adopt}`,
      forCallers: `it began with another service than the one set now; the log names both: ${remedy}`,
    },
  ]
}

/** Two names of one time zone are the same, such as Asia/Calcutta and Asia/Kolkata. */
const isSameSetting = (here: unknown, there: unknown): boolean =>
  here === there || (typeof here === 'string' && typeof there === 'string' && isSameZone(here, there))

function settingFaults(definitions: Definitions, { began }: Identity, set: AccountSettings): IdentityFault[] {
  const root = definitions.budgets[rootBudget]
  const now = latestRenewal(definitions.calendar)
  const renewal = 'to change the renewal, npm run account -- renewal'
  const rows: [keyof AccountSettings, unknown, unknown, string][] = [
    [
      'ACCOUNT_UNITS_PER_MONTH',
      began.unitsPerMonth,
      root && limitOf(root, 'month'),
      'to change the limit, PUT /budgets/account',
    ],
    ['ACCOUNT_UNITS_USED_AT_START', began.usedAtStart, began.usedAtStart, 'the opening entry can be corrected'],
    ['ACCOUNT_RENEWAL_DAY', began.renewal.day, now.day, renewal],
    ['ACCOUNT_RENEWAL_TIME', began.renewal.time, now.time, renewal],
    ['ACCOUNT_TIME_ZONE', began.renewal.zone, now.zone, renewal],
  ]
  return rows.flatMap(([name, first, current, remedy]) => {
    const here = set[name]
    if (here === undefined || [first, current].some((each) => isSameSetting(here, each))) return []
    const has = first === current ? `began with ${first}` : `began with ${first} and now has ${current}`
    return [{ text: `${name} is ${here}, but the ledger ${has}: unset the setting (${remedy})` }]
  })
}

// Only an operator makes the changes below.

export const renewalChange =
  (changes: Partial<Renewal>): MakeChange =>
  ({ definitions, now }) => {
    const before = latestRenewal(definitions.calendar)
    const renewal = { ...before, ...changes }
    const calendar = changeRenewal(definitions.calendar, renewal, now)
    if (calendar === definitions.calendar) return { refused: `The month already turns ${showRenewal(before)}.` }
    const reason = `months turn ${showRenewal(renewal)} after the current month`
    return { definitions: { ...definitions, calendar }, note: { type: 'renewal', budget: rootBudget, reason } }
  }

export const showRenewal = ({ day, time, zone }: Renewal): string => `on day ${day} at ${time} ${zone}`

export const adoption =
  ({ service, usedAtStart, table }: { service: string; usedAtStart: number; table?: string }): MakeChange =>
  ({ definitions, now }) => {
    const { identity, budgets, calendar } = definitions
    const before = identity?.service ?? null
    if (before === service) return { refused: `This ledger already belongs to ${service}.` }
    if (before !== null && [before, service].includes(sandboxService)) return { refused: trialsStayTrials }
    const limit = budgets[rootBudget] ? limitOf(budgets[rootBudget], 'month') : 'unlimited'
    const began: Account = identity?.began ?? {
      unitsPerMonth: limit === 'unlimited' ? toUnits(0) : limit,
      usedAtStart: toUnits(usedAtStart),
      renewal: latestRenewal(calendar),
    }
    const ledger = identity?.ledger ?? `led_${digest('ledger', service, String(now))}`
    const reason = `this ledger belongs to ${service}${before === null ? '' : `; before, it belonged to ${before}`}`
    return {
      definitions: {
        ...definitions,
        identity: { ...(table !== undefined && { table }), ...identity, ledger, service, began },
      },
      note: { type: 'adopt', budget: rootBudget, reason },
    }
  }

const trialsStayTrials =
  'A ledger of the stand-in counts units that no service has charged, so it cannot become the ledger of a real account: set DATA_DIR to another folder, where a new ledger begins.'

/** Accepts a restored ledger, frozen until it is reconciled and unfrozen. The new epoch stops older processes. */
export const acceptance =
  (how: { table: string; epoch: number; to: number | undefined; toText: string }): MakeChange =>
  ({ definitions, now }) => {
    const { identity, budgets } = definitions
    const root = budgets[rootBudget]
    if (!identity || !root) return { refused: 'This ledger does not know its service: adopt it first.' }
    const { replacedBy: _, ...kept } = identity
    const reason = `restored to ${how.toText}: reconcile with the vendor's figure before it is unfrozen`
    return {
      definitions: {
        ...definitions,
        budgets: { ...budgets, [rootBudget]: { ...root, frozen: { reason, by: 'setup', at: now } } },
        identity: {
          ...kept,
          table: how.table,
          epoch: how.epoch,
          restored: { at: now, ...(how.to !== undefined && { to: how.to }) },
        },
      },
      note: { type: 'restore', budget: rootBudget, reason },
    }
  }

/** Accepts a ledger in a moved folder. Nothing ran meanwhile, so nothing is frozen. */
export const relocation =
  (table: string): MakeChange =>
  ({ definitions }) => {
    const { identity } = definitions
    if (!identity) return { refused: 'This ledger does not know its service: adopt it first.' }
    return {
      definitions: { ...definitions, identity: { ...identity, table } },
      note: { type: 'adopt', budget: rootBudget, reason: 'the folder of this ledger was moved' },
    }
  }

export const replacement =
  (by: string): MakeChange =>
  ({ definitions }) => {
    const { identity } = definitions
    if (!identity) return { refused: 'the previous table does not know its service' }
    return {
      definitions: { ...definitions, identity: { ...identity, replacedBy: by } },
      note: { type: 'restore', budget: rootBudget, reason: `the table ${by} has taken over` },
    }
  }

/** The identity of a ledger in its new table. Nothing was lost in the move, so nothing is frozen. */
export function movedTo(table: string, { replacedBy: _, ...kept }: Identity): Identity {
  return { ...kept, table, epoch: (kept.epoch ?? 0) + 1 }
}

export async function openingUnits(store: Store): Promise<number> {
  const [entry] = await store.get([entryKey(openingId)])
  return entry ? fromEntryItem(entry).units : 0
}
