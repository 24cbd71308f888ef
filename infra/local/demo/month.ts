import { usualTerms } from '../../../functions/sandbox/account.ts'
import type { State } from '../../../functions/sandbox/state.ts'
import { count } from '../../../shared/guard/sentences.ts'
import { openLedger as openLedgerAt } from '../../../shared/ledger/open-ledger.ts'
import { all } from '../../../shared/ledger/store/pages.ts'
import type { Item, Store } from '../../../shared/ledger/store/store.ts'
import { definitionsKey } from '../../../shared/ledger/store/stored.ts'
import { states } from '../../../shared/ledger/updates/update.ts'
import { dayMs, hourMs, minuteMs, systemClock } from '../../../shared/platform/clock.ts'
import { digest } from '../../../shared/platform/ids.ts'
import { attentionOf } from '../commands/attention.ts'
import { settingsHere } from '../commands/command.ts'
import type { Run } from '../commands/table.ts'
import { openLedger, openSandboxState } from '../database/open.ts'
import { CannotContinue } from '../failures.ts'
import { readKeys } from '../secrets.ts'
import { defaultDirectory, type LocalSettings } from '../settings.ts'
import { type Shutdown, withShutdown, workLastsMs } from '../shutdown.ts'
import { createTicker } from '../ticker.ts'
import { type Call, calls } from './calls.ts'
import { fillAMonth } from './demonstration.ts'
import { createPlayer } from './player.ts'
import { openScenario, type Scenario } from './scenario.ts'

const pageSize = 100
const daysPerLine = 7

export const run: Run<'demo:month'> = () => withShutdown((shutdown) => fill(settingsHere(), shutdown))

async function fill(local: LocalSettings, shutdown: Shutdown): Promise<boolean> {
  if (local.sandboxPort === null)
    throw new CannotContinue('The month is made up, so it is for the stand-in alone: unset TRACKING_BASE_URL.')
  if (local.keptIn === null) throw new CannotContinue('A ledger in memory keeps no month: unset DATA_DIR.')
  const { file, store, where } = await openLedger(local.keptIn, shutdown)
  // Opening an empty ledger would set it up.
  if ((await store.get([definitionsKey]))[0]) throw new CannotContinue(notNew(where))

  console.log(`A month for the ledger: ${where}`)
  const plans = local.ownPlans === null ? {} : { PLANS: local.ownPlans }
  const callerKey = (await readKeys(local.keptIn)).callerKey.current
  const settings = { ...local.guard, ...plans }
  const scenario = await openScenario({ end: systemClock.now(), settings, callerKey, shutdown })
  await runMonth(scenario, (day, days) => {
    if (day % daysPerLine === 1) console.log(`  day ${day} of ${days} …`)
  })
  console.log(`  ${count(scenario.items().length)} items are written …`)
  const sandbox = await openSandboxState(local.keptIn, { ...systemClock, now: () => scenario.startAt })
  // The month has already sent its messages and started its updates, so this connection records no changes for readers.
  file.db.exec('CREATE TEMP TRIGGER untold BEFORE INSERT ON changes BEGIN SELECT raise(IGNORE); END')
  await keepMonth(scenario, { store, sandbox, unitsPerMonth: local.sandboxUnitsPerMonth })
  return printSummary(scenario, store, local.keptIn)
}

function notNew(where: string): string {
  return `This ledger is not empty, so a past month cannot be added: ${where}.
npm start shows the ledger. A month needs a new one:\n${fillAMonth}`
}

async function printSummary({ settings, clock, guard }: Scenario, store: Store, keptIn: string): Promise<boolean> {
  const ledger = openLedgerAt(settings, { clock, store })
  const updates = await all((cursor) => ledger.updates({}, pageSize, cursor))
  const counts = states
    .map((state) => ({ state, many: updates.filter((update) => update.state === state).length }))
    .filter(({ many }) => many !== 0)
    .map(({ state, many }) => `${count(many)} ${state.replaceAll('-', ' ')}`)
  const isOk = (await ledger.audit()).every(({ ok }) => ok)
  console.log(`\n${count(updates.length)} updates: ${counts.join(', ')}.`)
  console.log(`The audit: ${isOk ? 'every counter is the sum of its lines' : 'A COUNTER IS NOT THE SUM OF ITS LINES'}.`)
  console.log('\nWhat matters first:')
  const { urgent, paused, frozen } = await attentionOf(guard)
  for (const line of [...urgent, ...paused, ...frozen]) console.log(`  ${line}`)
  const own = keptIn === defaultDirectory ? '' : `DATA_DIR=${keptIn} `
  console.log(`\nTry next: ${own}npm start, which prints how to log in to the dashboard.`)
  return isOk
}

/** On the first day, plans run only after the calls that create budgets. */
const plansAfterMs = 9 * hourMs
/** Weekly calls leave out the last day, because its calls leave updates open. */
const quietMs = dayMs

interface Moment {
  readonly at: number
  act(): Promise<unknown>
}

/** @param onDay is called at the start of each day. */
export async function runMonth(scenario: Scenario, onDay: (day: number, days: number) => void): Promise<void> {
  const { clock, startAt, end } = scenario
  const dayOf = (at: number) => Math.floor((at - startAt) / dayMs) + 1
  let reportedDay = 0
  for (const { at, act } of momentsOf(scenario)) {
    clock.moveTo(at)
    if (dayOf(at) > reportedDay) onDay(dayOf(at), dayOf(end))
    reportedDay = dayOf(at)
    await act()
  }
  clock.moveTo(end)
}

function momentsOf(scenario: Scenario): readonly Moment[] {
  const { startAt, end, plans, triggers, clock } = scenario
  const play = createPlayer(scenario)
  const nights = Array.from({ length: Math.ceil((end - startAt) / dayMs) }, (_, day) => startAt + day * dayMs)
  const ticker = createTicker(plans, startAt + plansAfterMs)
  const planMoments = nights
    .flatMap((night) => ticker.due(Math.min(night + dayMs, end)))
    .map(({ at, event }) => ({ at, act: () => triggers.handle(event, clock.now() + workLastsMs) }))
  const callMoments = scenesIn(calls).flatMap((scene) =>
    timesOf(scene, scenario, nights).map((at) => ({ at, act: () => play(scene) })),
  )
  return [...planMoments, ...callMoments].filter(({ at }) => at <= end).toSorted((a, b) => a.at - b.at)
}

type Scene = readonly [first: Call, ...later: Call[]]

/** A call with a time of its own, and the calls that follow it. */
function scenesIn(all: readonly Call[]): readonly Scene[] {
  const scenes: [Call, ...Call[]][] = []
  for (const call of all) {
    if (call[0].startsWith('+')) scenes.at(-1)?.push(call)
    else scenes.push([call])
  }
  return scenes
}

const weekdays = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat']

function timesOf([[at]]: Scene, { startAt, end }: Scenario, nights: readonly number[]): readonly number[] {
  const [day = '', time] = at.split(' ')
  if (time === undefined) return [end + Number.parseInt(day, 10) * hourMs]
  const on = (night: number) => night + sinceMidnight(time)
  if (day === 'daily') return nights.map((night) => Math.min(on(night), end))
  const weekday = weekdays.indexOf(day)
  if (weekday < 0) return [on(startAt + (Number(day) - 1) * dayMs)]
  return nights
    .filter((night) => night > startAt && night + dayMs + quietMs <= end)
    .filter((night) => new Date(night).getUTCDay() === weekday)
    .map(on)
}

function sinceMidnight(time: string): number {
  const [hours = 0, minutes = 0] = time.split(':').map(Number)
  return hours * hourMs + minutes * minuteMs
}

const itemsAtOnce = 50

/** @throws CannotContinue when another process has written definitions. */
export async function keepMonth(
  { items, sandbox }: Scenario,
  target: { store: Store; sandbox: State; unitsPerMonth: number },
): Promise<void> {
  const isDefinitions = ({ pk, sk }: Item) => pk === definitionsKey.pk && sk === definitionsKey.sk
  const all = items().toSorted((a, b) => Number(isDefinitions(b)) - Number(isDefinitions(a)))
  for (let from = 0; from < all.length; from += itemsAtOnce) {
    const writes = all
      .slice(from, from + itemsAtOnce)
      .map((item) => ({ kind: 'put', item, when: [{ kind: 'absent-item' }] }) as const)
    const { applied } = await target.store.transact(writes, digest('month', JSON.stringify(writes)))
    if (!applied)
      throw new CannotContinue('Another program has begun to use this ledger: set DATA_DIR to another folder.')
  }
  const { projects } = await sandbox.meet(() => false)
  for (const { id: _its, ...project } of projects) await target.sandbox.addProject(project)
  for (const run of await sandbox.runs()) await target.sandbox.addRun(run, usualTerms(target.unitsPerMonth))
}
