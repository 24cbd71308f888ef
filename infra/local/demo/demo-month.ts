import { count } from '../../../shared/guard/sentences.ts'
import { newCalendar } from '../../../shared/ledger/book/windows.ts'
import { NoDefinitions } from '../../../shared/ledger/errors.ts'
import { openLedger as openLedgerAt } from '../../../shared/ledger/open-ledger.ts'
import { createDynamoClient, createDynamoStore } from '../../../shared/ledger/store/dynamo-store.ts'
import type { Store } from '../../../shared/ledger/store/store.ts'
import { states } from '../../../shared/ledger/updates/update.ts'
import { all } from '../../../shared/ledger/views/pages.ts'
import { createViews } from '../../../shared/ledger/views/views.ts'
import { systemClock } from '../../../shared/platform/clock.ts'
import { systemIds } from '../../../shared/platform/ids.ts'
import { environment } from '../../../shared/platform/settings.ts'
import { command } from '../commands/command.ts'
import { withoutFound } from '../data-directory.ts'
import { openLedger, openSandboxState } from '../database/open.ts'
import { CannotContinue } from '../failures.ts'
import { readCallerKey } from '../secrets.ts'
import { defaultDirectory, type LocalSettings, readSettings } from '../settings.ts'
import { type Shutdown, withShutdown } from '../shutdown.ts'
import { fillAMonth } from './demonstration.ts'
import { keepMonth, runMonth } from './month.ts'
import { openScenario, type Scenario } from './scenario.ts'

const usage = `Fills a new ledger with a month that ends now: teams and their budgets, plans, refusals, approvals, doubts, an overrun, a
reconciliation, all through the guard itself, with the stand-in as the service. Afterwards npm start shows it.

  npm run demo:month

It takes the settings of npm start, which must not be running, and touches no ledger that holds anything.`

const pageSize = 100
const daysPerLine = 7

await command(usage, {}, () => withShutdown((shutdown) => fill(readSettings(withoutFound(environment())), shutdown)))

async function fill(local: LocalSettings, shutdown: Shutdown): Promise<boolean> {
  const database = await openDatabase(local, shutdown)
  const client = createDynamoClient(database.endpoint, database.accessKey)
  const store = createDynamoStore({ client, table: local.table, clock: systemClock, ids: systemIds })
  if (!(await isNew(store))) throw new CannotContinue(notNew(database.where))

  console.log(`A month for the ledger: ${database.where}`)
  const plans = local.ownPlans === null ? {} : { PLANS: local.ownPlans }
  const callerKey = (await readCallerKey(local.keptIn)).current
  const scenario = await openScenario({
    end: systemClock.now(),
    settings: { ...local.guard, ...plans },
    ...{ callerKey, shutdown },
  })
  await runMonth(scenario, (day, days) => {
    if (day % daysPerLine === 1) console.log(`  day ${day} of ${days} …`)
  })
  console.log(`  ${count(scenario.items.size)} items are written …`)
  const sandbox = await openSandboxState(database, local.sandboxTable, { ...systemClock, now: () => scenario.startAt })
  await keepMonth(scenario, { store, sandbox, unitsPerMonth: local.sandboxUnitsPerMonth })
  return printSummary(scenario, store, local.keptIn)
}

async function openDatabase(local: LocalSettings, shutdown: Shutdown) {
  if (local.sandboxPort === null)
    throw new CannotContinue('The month is made up, so it is for the stand-in alone: unset TRACKING_BASE_URL.')
  if (local.keptIn === null && local.dynamoDb === undefined)
    throw new CannotContinue('A ledger in memory keeps no month: unset DATA_DIR.')
  const ledger = await openLedger({ ...local, endpoint: local.dynamoDb, accessKey: local.dynamoDbKey, shutdown })
  if (ledger.kind === 'memory') throw new CannotContinue('A ledger in memory keeps no month: install Java 17 or newer.')
  return ledger
}

/** Reads the store directly, because opening an empty ledger would set it up. */
async function isNew(store: Store): Promise<boolean> {
  const calendar = newCalendar({ day: 1, time: '00:00', zone: 'UTC' })
  try {
    await createViews({ store, clock: systemClock, calendar }).look()
    return false
  } catch (error) {
    if (error instanceof NoDefinitions) return true
    throw error
  }
}

function notNew(where: string): string {
  return `This ledger holds something already, and a past month cannot be put in front of it: ${where}.
npm start shows what there is. A month takes a ledger of its own:\n${fillAMonth}`
}

async function printSummary({ settings, clock }: Scenario, store: Store, keptIn: string | null): Promise<boolean> {
  const ledger = openLedgerAt(settings, { clock, store })
  const updates = await all((cursor) => ledger.updates({}, pageSize, cursor))
  const counters = await ledger.audit()
  const counts = states.flatMap((state) => {
    const { length } = updates.filter((update) => update.state === state)
    return length === 0 ? [] : [`${count(length)} ${state.replaceAll('-', ' ')}`]
  })
  const isOk = counters.every(({ ok }) => ok)
  console.log(`\n${count(updates.length)} updates: ${counts.join(', ')}.`)
  console.log(`The audit: ${isOk ? 'every counter is the sum of its lines' : 'A COUNTER IS NOT THE SUM OF ITS LINES'}.`)
  const own = keptIn === null || keptIn === defaultDirectory ? '' : `DATA_DIR=${keptIn} `
  console.log(`\nTry next: ${own}npm start, which prints how to log in to the dashboard.`)
  return isOk
}
