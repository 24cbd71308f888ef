import * as z from 'zod/mini'
import { closedLine, holdLine, runLine } from '../../../shared/guard/log-lines.ts'

/** An update in the log (docs/log.md, "A run has two lines"). */
export interface LoggedRun {
  readonly update: string
  /** Absent if its units were held earlier, so that the restored ledger has its record. */
  readonly held?: Pick<z.infer<typeof holdLine>, 'kind' | 'project' | 'budget' | 'caller' | 'heldAt'>
  readonly units: number
  /** Whether its outcome is known; if not, `units` are those that were held. */
  readonly isKnown: boolean
}

const correctionLine = z.object({
  at: z.iso.datetime(),
  event: z.literal('late-correction'),
  update: z.string(),
  charged: z.nullable(z.int()),
})
const line = z.union([holdLine, runLine, closedLine, correctionLine])
type Line = z.infer<typeof line>

/** @param text log lines, or the JSON of `aws logs filter-log-events`. */
export function loggedRuns(text: string, since: number): LoggedRun[] {
  const lines = messagesIn(text)
    .flatMap((message) => line.safeParse(jsonOf(message)).data ?? [])
    .filter(({ at }) => Date.parse(at) >= since)
    .toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at))
  return [...new Set(lines.map(({ update }) => update))].map((update) => {
    const own = lines.filter((each) => each.update === update)
    return { update, ...heldBy(own), ...outcomeOf(own) }
  })
}

function heldBy(lines: readonly Line[]): Pick<LoggedRun, 'held'> {
  const found = lines.find((each) => each.event === 'hold' || each.event === 'run')
  if (!found || !('heldAt' in found)) return {}
  const { kind, project, budget, caller, heldAt } = found
  return { held: { kind, project, budget, caller, heldAt } }
}

function outcomeOf(lines: readonly Line[]): Pick<LoggedRun, 'units' | 'isKnown'> {
  const closed = lines.findLast((each) => each.event === 'closed' || each.event === 'late-correction')
  if (closed && typeof closed.charged === 'number') return { units: closed.charged, isKnown: true }
  const run = lines.find((each) => each.event === 'run')
  if (run && run.found !== 'unknown')
    return { units: run.found === 'ran' ? (run.charged ?? run.held) : 0, isKnown: true }
  const [held] = lines.flatMap((each) => ('held' in each ? [each.held] : []))
  return { units: held ?? 0, isKnown: false }
}

/** `{"events": [{"message"}]}`, `["…"]`, or one message a line. */
function messagesIn(text: string): readonly string[] {
  const whole = jsonOf(text)
  if (Array.isArray(whole)) return whole.map(String)
  const events = z.object({ events: z.array(z.object({ message: z.string() })) }).safeParse(whole)
  return events.success ? events.data.events.map(({ message }) => message) : text.split('\n')
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
