import type { State } from '../../../functions/sandbox/state/state.ts'
import { definitionsKey } from '../../../shared/ledger/book/definitions-item.ts'
import type { Item, Store } from '../../../shared/ledger/store/store.ts'
import { dayMs, hourMs, minuteMs } from '../../../shared/platform/clock.ts'
import { digest } from '../../../shared/platform/ids.ts'
import { createTicker, workLastsMs } from '../background.ts'
import { CannotContinue } from '../failures.ts'
import { type Actors, createActors, type Scenario } from './scenario.ts'
import { callerScopes, scenes, weekly } from './scenes.ts'

/** On the first day the setup comes before the plans. */
const firedAfterMs = 9 * hourMs
const digestAfterMs = 6 * hourMs
/** The scenes of the last day leave updates open. */
const quietMs = dayMs

interface Moment {
  readonly at: number
  act(actors: Actors): Promise<unknown>
}

/** Runs all plans, scenes and nightly sweeps of the month. @param tell is called at the start of each day. */
export async function runMonth(scenario: Scenario, tell: (day: number, days: number) => void): Promise<void> {
  const { clock, first, end } = scenario
  const actors = createActors(scenario, callerScopes)
  const dayOf = (at: number) => Math.floor((at - first) / dayMs) + 1
  let told = 0
  for (const { at, act } of momentsOf(scenario)) {
    clock.moveTo(at)
    if (dayOf(at) > told) tell(dayOf(at), dayOf(end))
    told = dayOf(at)
    await act(actors)
  }
  clock.moveTo(end)
}

function momentsOf({ first, end, plans, triggers, clock }: Scenario): readonly Moment[] {
  const trigger = (event: object) => () => triggers.handle(event, clock.now() + workLastsMs)
  const nights = Array.from({ length: Math.ceil((end - first) / dayMs) }, (_, day) => first + day * dayMs)
  const due = createTicker(plans, first + firedAfterMs)
  const fired = nights.flatMap((night) =>
    due(Math.min(night + dayMs, end)).map((event) => ({ at: timeOf(event, night), act: trigger(event) })),
  )
  const swept = nights.map((night) => ({ at: Math.min(night + dayMs - hourMs, end), act: trigger({ task: 'sweep' }) }))
  const once = scenes.map((scene) => ({
    at:
      'day' in scene
        ? first + (scene.day - 1) * dayMs + sinceMidnight(scene.time)
        : end - scene.hoursBeforeEnd * hourMs,
    act: scene.act,
  }))
  const everyWeek = nights
    .filter((night) => night > first && night + dayMs + quietMs <= end)
    .flatMap((night) =>
      weekly
        .filter(({ weekday }) => weekday === new Date(night).getUTCDay())
        .map(({ time, act }) => ({ at: night + sinceMidnight(time), act })),
    )
  return [...fired, ...swept, ...once, ...everyWeek].filter(({ at }) => at <= end).toSorted((a, b) => a.at - b.at)
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
  { items, service }: Scenario,
  to: { store: Store; service: State; unitsPerMonth: number },
): Promise<void> {
  const isDefinitions = ({ pk, sk }: Item) => pk === definitionsKey.pk && sk === definitionsKey.sk
  const all = [...items.values()].toSorted((a, b) => Number(isDefinitions(b)) - Number(isDefinitions(a)))
  for (let from = 0; from < all.length; from += itemsAtOnce) {
    const writes = all
      .slice(from, from + itemsAtOnce)
      .map((item) => ({ kind: 'put', item, when: [{ kind: 'absent-item' }] }) as const)
    const { applied } = await to.store.transact(writes, digest('month', JSON.stringify(writes)))
    if (!applied)
      throw new CannotContinue('Another program has begun to use this ledger; set DATA_DIR to use another one.')
  }
  const { projects } = await service.meet(() => false)
  for (const { id: _its, ...project } of projects) await to.service.addProject(project)
  for (const run of await service.runs()) await to.service.addRun(run, to.unitsPerMonth)
}
