import * as z from 'zod/mini'
import { minuteMs } from '../../../shared/platform/clock.ts'
import { parseLenientJson } from '../../../shared/platform/json.ts'
import { eventsOf } from '../../alarms/errors.ts'

const aboutUnits: ReadonlySet<string> = new Set(eventsOf.Units)

const errorLine = z.looseObject({
  level: z.literal('error'),
  event: z.string(),
  cause: z.looseObject({ name: z.optional(z.string()), message: z.string() }),
})

/**
 * A full disk fails each request and job, so `write` gets only the first line of a minute about one cause. The next one says
 * in `repeats` how many were left out. Lines without a cause, and lines about units that may be booked wrongly, are never left out.
 */
export function onceAMinute(write: (line: string) => void, now: () => number): (line: string) => void {
  const told = new Map<string, { readonly at: number; repeats: number }>()

  return (text) => {
    const parsed = text.includes('"level":"error"') ? errorLine.safeParse(parseLenientJson(text)) : null
    if (!parsed?.success || aboutUnits.has(parsed.data.event)) return write(text)
    const { cause } = parsed.data
    const key = JSON.stringify([cause.name, cause.message])
    const before = told.get(key)
    if (before && now() - before.at < minuteMs) {
      before.repeats++
      return
    }
    for (const [other, { at, repeats }] of told) if (repeats === 0 && now() - at >= minuteMs) told.delete(other)
    told.set(key, { at: now(), repeats: 0 })
    write(before && before.repeats > 0 ? JSON.stringify({ ...parsed.data, repeats: before.repeats }) : text)
  }
}
