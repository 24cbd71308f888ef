import type { Guard } from '../../shared/guard/guard.ts'
import { units } from '../../shared/guard/sentences.ts'
import type { Counted, Results } from '../../shared/guard/tries.ts'
import type { Occurrence } from '../../shared/ledger/occurrence.ts'
import { isTerminal, type Update, wasUpToDate } from '../../shared/ledger/update.ts'
import { toRfc3339 } from '../../shared/platform/clock.ts'

const words: Readonly<Record<Counted, string>> = {
  settled: 'updated',
  upToDate: 'up to date',
  refused: 'refused',
  released: 'did not run',
  inDoubt: 'in doubt',
  awaitingApproval: 'waiting for approval',
  requested: 'not begun yet',
  expired: 'expired',
  unsent: 'not tried',
}

/** What `npm run plan` says: each project once for everything that becomes of it, and all of it at the end. */
export function createProgress(guard: Guard, heading: string) {
  const told = new Set<string>()

  /** Says it once. */
  function note(line: string): void {
    if (told.size === 0) console.log(heading)
    if (!told.has(line)) console.log(`  ${line}`)
    told.add(line)
  }

  async function tell(occurrence: Occurrence): Promise<void> {
    for (const { project, update } of (await guard.report(occurrence)).rows) {
      if (update && hasEnded(update)) note(`${project}  ${lineOf(update)}`)
    }
  }

  async function sum(occurrence: Occurrence): Promise<void> {
    const report = await guard.report(occurrence)
    const { state, reason, doneAt, nextAt } = occurrence
    if (state === 'missed' || state === 'paused') return note(`not run, ${reason}`)
    note(summary(report))
    if (state === 'stopped') note(`stopped before its end, ${reason}`)
    if (doneAt === undefined) {
      note(
        `what has not run is tried again at ${toRfc3339(nextAt)}; the schedule goes on by itself while npm start runs`,
      )
    }
  }

  return { note, tell, sum }
}

const hasEnded = ({ state }: Update): boolean =>
  isTerminal(state) || state === 'in-doubt' || state === 'awaiting-approval'

function lineOf(update: Update): string {
  const { state, charged, hold, problem } = update
  if (state === 'settled') return `settled, ${units(charged ?? 0)}`
  if (state === 'in-doubt') return `in doubt: it may have run, and its ${units(hold?.units ?? 0)} stay counted`
  const words = wasUpToDate(update) ? 'up to date' : state.replace('-', ' ')
  return problem ? `${words}: ${problem.detail}` : words
}

function summary({ counts, unitsCharged }: Results): string {
  const parts = Object.entries(words).flatMap(([name, what]) => {
    const number = counts[name as Counted]
    return number === 0 ? [] : [`${number} ${what}`]
  })
  return `${parts.join(', ')}; ${units(unitsCharged)} charged`
}
