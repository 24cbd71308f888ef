import { toUnits, type Units } from '../platform/words.ts'
import { type Definitions, limitOf, rootBudget } from './definitions.ts'
import { LedgerUnavailable } from './store.ts'
import { latestRenewal, type Renewal } from './windows.ts'

/** What the root budget begins with in a new ledger, and when its month turns. */
export interface Account {
  readonly unitsPerMonth: Units
  readonly usedAtStart: Units
  readonly renewal: Renewal
}

/** Where nothing else was said, on one machine. A deployment on AWS has to say all of it. */
export const usualAccount: Account = {
  unitsPerMonth: toUnits(50_000),
  usedAtStart: toUnits(0),
  renewal: { day: 1, time: '00:00', zone: 'UTC' },
}

/** What the ledger calls the stand-in, whatever port it listens on. */
export const sandboxService = 'sandbox'

/** What a ledger is the ledger of. It is stored in the definitions, which every decision reads. */
export interface Identity {
  readonly ledger: string
  /** `sandbox`, or the normalised address of the service; `null`: the process that began the ledger did not know it. */
  readonly service: string | null
  /** The account settings that the ledger began with, or was adopted with. */
  readonly began: Account
}

/** The account settings by the names that people set; what is absent says nothing. */
export interface AccountSettings {
  readonly ACCOUNT_UNITS_PER_MONTH?: Units | undefined
  readonly ACCOUNT_UNITS_USED_AT_START?: Units | undefined
  readonly ACCOUNT_RENEWAL_DAY?: number | undefined
  readonly ACCOUNT_RENEWAL_TIME?: string | undefined
  readonly ACCOUNT_TIME_ZONE?: string | undefined
}

/** What a process was told about the ledger that it opens. */
export interface Expected {
  readonly service?: string | undefined
  readonly account?: AccountSettings
}

/** The ledger is not the one that this process was told of. Nothing was read from it, nothing was written. */
export class WrongLedger extends LedgerUnavailable {
  override readonly name = 'WrongLedger'
  /** For callers of the API: without the address of the service. */
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

/** The opening that the settings ask for. */
export const accountOf = (set: AccountSettings): Account => ({
  unitsPerMonth: set.ACCOUNT_UNITS_PER_MONTH ?? usualAccount.unitsPerMonth,
  usedAtStart: set.ACCOUNT_UNITS_USED_AT_START ?? usualAccount.usedAtStart,
  renewal: {
    day: set.ACCOUNT_RENEWAL_DAY ?? usualAccount.renewal.day,
    time: set.ACCOUNT_RENEWAL_TIME ?? usualAccount.renewal.time,
    zone: set.ACCOUNT_TIME_ZONE ?? usualAccount.renewal.zone,
  },
})

/** The service as ledgers know it: two spellings of one address are one service. */
export function serviceNameOf(baseUrl: string): string {
  const { protocol, host, pathname } = new URL(baseUrl)
  return `${protocol}//${host}${pathname.replace(/\/+$/, '')}`
}

const adopt = 'npm run account -- adopt'

/** Why a process may not use this ledger; empty when it may. */
export function identityFaults(definitions: Definitions, expected: Expected): IdentityFault[] {
  const { identity } = definitions
  if (!identity) {
    return [
      {
        text: `it was written by a version that did not note its service; if it belongs to the service and the account that are set here, say so once with ${adopt}`,
      },
    ]
  }
  return [...serviceFaults(identity, expected.service), ...settingFaults(definitions, identity, expected.account ?? {})]
}

function serviceFaults({ service }: Identity, here: string | undefined): IdentityFault[] {
  if (here === undefined || service === null || here === service) return []
  const remedy = 'use the service that it began with, or another ledger (DATA_DIR, or another deployment)'
  return [
    {
      text: `it began with the service ${service}, and the service here is ${here}: ${remedy}; where the same account has moved to a new address, say so with ${adopt}`,
      forCallers: `it began with another service than the one that is set here, and the log names both: ${remedy}`,
    },
  ]
}

function settingFaults(definitions: Definitions, { began }: Identity, set: AccountSettings): IdentityFault[] {
  const root = definitions.budgets[rootBudget]
  const now = latestRenewal(definitions.calendar)
  const renewal = 'npm run account -- renewal changes it'
  const rows: [keyof AccountSettings, unknown, unknown, string][] = [
    [
      'ACCOUNT_UNITS_PER_MONTH',
      began.unitsPerMonth,
      root && limitOf(root, 'month'),
      'PUT /budgets/account changes the limit',
    ],
    ['ACCOUNT_UNITS_USED_AT_START', began.usedAtStart, began.usedAtStart, 'a correction of the entry changes it'],
    ['ACCOUNT_RENEWAL_DAY', began.renewal.day, now.day, renewal],
    ['ACCOUNT_RENEWAL_TIME', began.renewal.time, now.time, renewal],
    ['ACCOUNT_TIME_ZONE', began.renewal.zone, now.zone, renewal],
  ]
  return rows.flatMap(([name, first, current, remedy]) => {
    const here = set[name]
    if (here === undefined || here === first || here === current) return []
    const has = first === current ? `began with ${first}` : `began with ${first} and has ${current} now`
    return [{ text: `${name} is ${here} here, and the ledger ${has}: unset it (${remedy})` }]
  })
}
