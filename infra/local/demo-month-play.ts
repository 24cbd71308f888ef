import { dayMs, hourMs, minuteMs } from '../../shared/platform/clock.ts'
import { workLastsMs } from './background.ts'
import { type Actors, createActors } from './demo-month-actors.ts'
import { cast } from './demo-month-cast.ts'
import type { Stage } from './demo-month-stage.ts'
import { scenes, weekly } from './demo-month-story.ts'
import { createTicker } from './ticker.ts'

/** On the first day everything is set up before anything is fired. */
const firedAfterMs = 9 * hourMs
const digestAfterMs = 6 * hourMs
/** The last day belongs to what is left open. */
const quietMs = dayMs

interface Moment {
  readonly at: number
  play(actors: Actors): Promise<unknown>
}

/**
 * Plays the month from its first day to its end: plans at their times, people on their days, the sweep every night.
 *
 * @param tell hears of each day as it begins.
 */
export async function playMonth(stage: Stage, tell: (day: number, days: number) => void): Promise<void> {
  const { clock, first, end } = stage
  const actors = createActors(stage, cast)
  const dayOf = (at: number) => Math.floor((at - first) / dayMs) + 1
  let told = 0
  for (const { at, play } of momentsOf(stage)) {
    clock.moveTo(at)
    if (dayOf(at) > told) tell(dayOf(at), dayOf(end))
    told = dayOf(at)
    await play(actors)
  }
  clock.moveTo(end)
}

function momentsOf({ first, end, plans, triggers, clock }: Stage): readonly Moment[] {
  const trigger = (event: object) => () => triggers.handle(event, clock.now() + workLastsMs)
  const nights = Array.from({ length: Math.ceil((end - first) / dayMs) }, (_, day) => first + day * dayMs)
  const due = createTicker(plans, first + firedAfterMs)
  const fired = nights.flatMap((night) =>
    due(Math.min(night + dayMs, end)).map((event) => ({ at: timeOf(event, night), play: trigger(event) })),
  )
  const swept = nights.map((night) => ({ at: Math.min(night + dayMs - hourMs, end), play: trigger({ task: 'sweep' }) }))
  const once = scenes.map((scene) => ({
    at:
      'day' in scene
        ? first + (scene.day - 1) * dayMs + sinceMidnight(scene.time)
        : end - scene.hoursBeforeEnd * hourMs,
    play: scene.play,
  }))
  const everyWeek = nights
    .filter((night) => night > first && night + dayMs + quietMs <= end)
    .flatMap((night) =>
      weekly
        .filter(({ weekday }) => weekday === new Date(night).getUTCDay())
        .map(({ time, play }) => ({ at: night + sinceMidnight(time), play })),
    )
  return [...fired, ...swept, ...once, ...everyWeek].filter(({ at }) => at <= end).toSorted((a, b) => a.at - b.at)
}

/** A rule of EventBridge names a plan's time; the digest has none. */
const timeOf = (event: object, night: number): number =>
  'time' in event && typeof event.time === 'string' ? Date.parse(event.time) : night + digestAfterMs

function sinceMidnight(time: string): number {
  const [hours = 0, minutes = 0] = time.split(':').map(Number)
  return hours * hourMs + minutes * minuteMs
}
