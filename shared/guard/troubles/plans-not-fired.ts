import { pauseOf } from '../../ledger/definitions/definitions.ts'
import { minuteMs } from '../../platform/clock.ts'
import { occurrenceId, occurrences } from '../plans/stored-occurrence.ts'
import { lastTimeOf } from '../schedule.ts'
import type { NotedTrouble } from './noted.ts'
import type { TroublesParts } from './parts.ts'

/** An event may be late, and a machine that slept fires its plans when it wakes. */
const graceMs = 10 * minuteMs

interface Parts extends Pick<TroublesParts, 'ledger' | 'clock' | 'plans' | 'machine'> {
  /** A plan may be newer than an earlier time of its schedule. */
  readonly startedAt: number
  readonly open: readonly NotedTrouble[]
  /** The last time of each plan that was seen to start, so that each time is looked for once. */
  readonly fired: Map<string, number>
}

/** Enabled plans whose last time has no occurrence. Only AWS knows the times of its rates. */
export async function plansNotFired({
  ledger,
  clock,
  plans,
  machine,
  ...parts
}: Parts): Promise<readonly NotedTrouble[]> {
  const { startedAt, open, fired } = parts
  const missing: NotedTrouble[] = []
  const queue = ledger.queue(occurrences)
  for (const { name, enabled, schedule } of await plans()) {
    if (!enabled || (schedule.kind === 'rate' && !machine)) continue
    const due = lastTimeOf(schedule, clock.now() - graceMs)
    const isNoted = open.some(
      ({ slug, about, since }) => slug === 'plan-not-fired' && about === name && since <= (due ?? 0),
    )
    if (due === null || (due <= startedAt && !isNoted)) continue
    if (fired.get(name) === due) continue
    if (await queue.get(occurrenceId(name, due))) fired.set(name, due)
    else missing.push({ slug: 'plan-not-fired', about: name, since: due })
  }
  if (missing.length === 0) return missing
  const { definitions } = await ledger.view()
  return missing.filter(({ about = '' }) => pauseOf(definitions, about) === undefined)
}
