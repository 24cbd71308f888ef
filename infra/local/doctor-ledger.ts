import { figuresOf } from '../../shared/guard/figures.ts'
import { count, units, when, zoneOf } from '../../shared/guard/sentences.ts'
import {
  type Budget,
  collisionsIn,
  type Definitions,
  rootBudget,
  windowKinds,
} from '../../shared/ledger/definitions.ts'
import { createDynamoClient } from '../../shared/ledger/dynamo-client.ts'
import { createDynamoStore } from '../../shared/ledger/dynamo-store.ts'
import type { Store } from '../../shared/ledger/store.ts'
import { createViews, NoDefinitions, type View } from '../../shared/ledger/views.ts'
import { latestRenewal, newCalendar, type Renewal } from '../../shared/ledger/windows.ts'
import { type Clock, systemClock } from '../../shared/platform/clock.ts'
import { systemIds } from '../../shared/platform/ids.ts'
import type { GuardSettings } from '../../shared/platform/settings.ts'
import type { Findings } from './doctor-findings.ts'
import { reasonOf } from './failures.ts'

type Settings = Pick<
  GuardSettings,
  | 'ACCOUNT_UNITS_PER_MONTH'
  | 'ACCOUNT_UNITS_USED_AT_START'
  | 'ACCOUNT_RENEWAL_DAY'
  | 'ACCOUNT_RENEWAL_TIME'
  | 'ACCOUNT_TIME_ZONE'
>

/** The state of the open book, budget by budget. */
export async function examineLedger(settings: GuardSettings, { inMemory }: { inMemory: boolean }): Promise<Findings> {
  if (inMemory) {
    return {
      lines: ['it is in the memory of npm start, where no other process can read it: GET /budgets can'],
      toDo: [],
    }
  }
  const { TABLE_NAME: table, DYNAMODB_ENDPOINT: endpoint } = settings
  const client = createDynamoClient(endpoint, settings.DYNAMODB_ACCESS_KEY)
  const store = createDynamoStore({ client, table, clock: systemClock, ids: systemIds })
  try {
    return await examineStore(settings, store, systemClock)
  } catch (error) {
    return {
      lines: [`cannot be read at ${endpoint ?? 'AWS'}: ${reasonOf(error)}`],
      toDo: ['see that the ledger answers; until then every update is answered 503'],
    }
  } finally {
    client.destroy()
  }
}

/** Only reads: a ledger that somebody opens to use it would be set up, and its renewal changed to what is set here. */
export async function examineStore(settings: Settings, store: Store, clock: Clock): Promise<Findings> {
  const renewal = renewalOf(settings)
  try {
    const view = await createViews({ store, clock, calendar: newCalendar(renewal) }).look()
    const moved = movedRenewal(view, renewal)
    return {
      lines: [...linesOf(view), ...moved.lines],
      toDo: [...frozenBudgets(view), ...collisions(view), ...moved.toDo],
    }
  } catch (error) {
    if (!(error instanceof NoDefinitions)) throw error
    const { ACCOUNT_UNITS_PER_MONTH: limit, ACCOUNT_UNITS_USED_AT_START: used } = settings
    const first = `the first request makes it: ${units(limit)} a month, ${count(used)} of them used, the month turns ${shown(renewal)}`
    return { lines: [`it is empty; ${first}`], toDo: [] }
  }
}

const renewalOf = (settings: Settings): Renewal => ({
  day: settings.ACCOUNT_RENEWAL_DAY,
  time: settings.ACCOUNT_RENEWAL_TIME,
  zone: settings.ACCOUNT_TIME_ZONE,
})

const shown = ({ day, time, zone }: Renewal): string => `on day ${day} at ${time} ${zone}`

function movedRenewal({ definitions }: View, asked: Renewal): Findings {
  const latest = shown(latestRenewal(definitions.calendar))
  if (latest === shown(asked)) return { lines: [], toDo: [] }
  return {
    lines: [`the month turns ${latest}, and the settings here say ${shown(asked)}`],
    toDo: [
      'set ACCOUNT_RENEWAL_DAY, ACCOUNT_RENEWAL_TIME and ACCOUNT_TIME_ZONE alike everywhere: whoever starts with others changes the renewal',
    ],
  }
}

function* linesOf(view: View): Generator<string> {
  const { definitions, month } = view
  yield `${month.name} is open until ${when(month.end, zoneOf(view))}; revision ${definitions.revision} of the definitions`
  const all = rootFirst(definitions)
  const told = all.filter((budget) => budget.name === rootBudget || isTouched(view, budget))
  for (const budget of told) {
    for (const window of windowKinds) {
      const { limit, granted, available, held, inDoubt, spent } = figuresOf(view, budget, window)
      if (limit === 'unlimited' && window === 'day') continue
      const most = limit === 'unlimited' ? 'unlimited' : `${count(available)} of ${count(limit + granted)} available`
      const rest = `${count(held)} held, ${count(inDoubt)} in doubt, ${count(spent)} spent`
      yield `${budget.name}, ${window}: ${most}, ${rest}${budget.frozen ? ', FROZEN' : ''}`
    }
  }
  const others = all.length - told.length
  if (others > 0)
    yield `and ${count(others)} ${others === 1 ? 'budget' : 'budgets'} of which nothing was used this month`
}

function isTouched(view: View, budget: Budget): boolean {
  const { held, inDoubt, spent } = figuresOf(view, budget, 'month')
  return held !== 0 || inDoubt !== 0 || spent !== 0 || budget.frozen !== undefined
}

const rootFirst = ({ budgets }: Definitions): Budget[] => {
  const all = Object.values(budgets).toSorted((a, b) => (a.name < b.name ? -1 : 1))
  return [...all.filter(({ parent }) => parent === null), ...all.filter(({ parent }) => parent !== null)]
}

const frozenBudgets = ({ definitions }: View): string[] =>
  Object.values(definitions.budgets).flatMap(({ name, frozen }) =>
    frozen ? [`unfreeze ${name} when it may spend again (frozen by ${frozen.by}: ${frozen.reason})`] : [],
  )

const collisions = ({ definitions }: View): string[] =>
  collisionsIn(definitions).map(
    (collision) => `${collision}; until a budget drops one of them, its updates are refused`,
  )
