import type { State } from '../../../functions/sandbox/state/state.ts'
import { definitionsKey } from '../../../shared/ledger/book/definitions-item.ts'
import type { Item, Store } from '../../../shared/ledger/store/store.ts'
import { dayMs, hourMs, minuteMs } from '../../../shared/platform/clock.ts'
import { digest } from '../../../shared/platform/ids.ts'
import { createTicker, workLastsMs } from '../background.ts'
import { CannotContinue } from '../failures.ts'
import { type Actors, createActors, type Scenario } from './scenario.ts'
import { callerScopes, scenes, weekly } from './scenes.ts'

/** On the first day, plans run only after the scene that creates budgets. */
const plansAfterMs = 9 * hourMs
const digestAfterMs = 6 * hourMs
/** Weekly scenes leave out the last day, because its scenes leave updates open. */
const quietMs = dayMs

interface Moment {
  readonly at: number
  act(actors: Actors): Promise<unknown>
}

/** Runs all plans, scenes and nightly sweeps of the month. @param onDay is called at the start of each day. */
export async function runMonth(scenario: Scenario, onDay: (day: number, days: number) => void): Promise<void> {
  const { clock, startAt, end } = scenario
  const actors = createActors(scenario, callerScopes)
  const dayOf = (at: number) => Math.floor((at - startAt) / dayMs) + 1
  let reportedDay = 0
  for (const { at, act } of momentsOf(scenario)) {
    clock.moveTo(at)
    if (dayOf(at) > reportedDay) onDay(dayOf(at), dayOf(end))
    reportedDay = dayOf(at)
    await act(actors)
  }
  clock.moveTo(end)
}

function momentsOf({ startAt, end, plans, triggers, clock }: Scenario): readonly Moment[] {
  const trigger = (event: object) => () => triggers.handle(event, clock.now() + workLastsMs)
  const nights = Array.from({ length: Math.ceil((end - startAt) / dayMs) }, (_, day) => startAt + day * dayMs)
  const eventsUntil = createTicker(plans, startAt + plansAfterMs)
  const planMoments = nights.flatMap((night) =>
    eventsUntil(Math.min(night + dayMs, end)).map((event) => ({ at: timeOf(event, night), act: trigger(event) })),
  )
  const sweepMoments = nights.map((night) => ({
    at: Math.min(night + dayMs - hourMs, end),
    act: trigger({ task: 'sweep' }),
  }))
  const sceneMoments = scenes.map((scene) => ({
    at:
      'day' in scene
        ? startAt + (scene.day - 1) * dayMs + sinceMidnight(scene.time)
        : end - scene.hoursBeforeEnd * hourMs,
    act: scene.act,
  }))
  const weeklyMoments = nights
    .filter((night) => night > startAt && night + dayMs + quietMs <= end)
    .flatMap((night) =>
      weekly
        .filter(({ weekday }) => weekday === new Date(night).getUTCDay())
        .map(({ time, act }) => ({ at: night + sinceMidnight(time), act })),
    )
  return [...planMoments, ...sweepMoments, ...sceneMoments, ...weeklyMoments]
    .filter(({ at }) => at <= end)
    .toSorted((a, b) => a.at - b.at)
}

const timeOf = (event: object, night: number): number =>
  'time' in event && typeof event.time === 'string' ? Date.parse(event.time) : night + digestAfterMs

function sinceMidnight(time: string): number {
  const [hours = 0, minutes = 0] = time.split(':').map(Number)
  return hours * hourMs + minutes * minuteMs
}

const itemsAtOnce = 50

/**
 * Writes the month into the ledger of `npm start`, the definitions first.
 *
 * @throws CannotContinue when another process has written definitions.
 */
export async function keepMonth(
  { items, sandbox }: Scenario,
  target: { store: Store; sandbox: State; unitsPerMonth: number },
): Promise<void> {
  const isDefinitions = ({ pk, sk }: Item) => pk === definitionsKey.pk && sk === definitionsKey.sk
  const all = [...items.values()].toSorted((a, b) => Number(isDefinitions(b)) - Number(isDefinitions(a)))
  for (let from = 0; from < all.length; from += itemsAtOnce) {
    const writes = all
      .slice(from, from + itemsAtOnce)
      .map((item) => ({ kind: 'put', item, when: [{ kind: 'absent-item' }] }) as const)
    const { applied } = await target.store.transact(writes, digest('month', JSON.stringify(writes)))
    if (!applied)
      throw new CannotContinue('Another program has begun to use this ledger; set DATA_DIR to use another one.')
  }
  const { projects } = await sandbox.meet(() => false)
  for (const { id: _its, ...project } of projects) await target.sandbox.addProject(project)
  for (const run of await sandbox.runs()) await target.sandbox.addRun(run, target.unitsPerMonth)
}
