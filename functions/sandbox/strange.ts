import { type Draw, type Facts, strangeDates, strangeEstimate, strangeRefusal, strangeRun } from './strange-bodies.ts'
import { type Delivery, deliver, drawCache, isCached } from './strange-delivery.ts'

export interface StrangeAnswer extends Delivery {
  readonly status: number
  /** Another than the service may have answered, earlier. */
  readonly isCached: boolean
}

const statuses = [200, 200, 200, 200, 200, 201, 202, 203, 207] as const

/** A cache shows an earlier price, which was lower. */
export function answerEstimate(draw: Draw, facts: Facts): StrangeAnswer {
  const cache = drawCache(draw)
  const units = isCached(cache) ? Math.ceil(facts.units / 2) : facts.units
  return answer(draw, { cache, text: strangeEstimate(draw, { ...facts, units }) })
}

/** The service took the units. */
export const answerRun = (draw: Draw, facts: Facts): StrangeAnswer =>
  answer(draw, { cache: drawCache(draw), text: strangeRun(draw, facts) })

/** The service took nothing. Some services say so with 200. */
export function answerRefusal(draw: Draw, facts: Facts, refusal: { status: number; reason: string }): StrangeAnswer {
  const refused = answer(draw, { cache: {}, text: strangeRefusal(draw, facts, refusal.reason) })
  return { ...refused, status: draw([refusal.status, 200]) }
}

/** A cache shows the dates without the last one. */
export function answerDates(draw: Draw, facts: Facts, dates: readonly string[]): StrangeAnswer {
  const cache = drawCache(draw)
  const shown = isCached(cache) ? dates.slice(0, -1) : dates
  return answer(draw, { cache, text: strangeDates(draw, facts, shown) })
}

function answer(draw: Draw, { cache, text }: { cache: Readonly<Record<string, string>>; text: string }): StrangeAnswer {
  const { headers, bytes } = deliver(draw, text)
  return { status: draw(statuses), headers: { ...headers, ...cache }, bytes, isCached: isCached(cache) }
}
