import { inFlightUntil } from '../../guard/options.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import { sharedNewsOf } from '../../ledger/updates/tasks.ts'
import type { Update } from '../../ledger/updates/update.ts'
import { decidedDoubtMessage, doubtMessage, type SignCount } from '../messages/decisions.ts'
import type { Place, Question } from './place.ts'

/** The message is about the first doubt of a sign, and also counts the others. `null`: nothing is in doubt any more. */
export async function composeDoubt(id: string, place: Place): Promise<Question | null> {
  const { guard, options, posted, shown, zone, dashboardUrl } = place
  const update = await guard.ledger.update(id)
  if (!update) return null
  const like = await doubtsLike(guard.ledger, update)
  const isOpen = update.state === 'in-doubt'
  if (!posted && !isOpen && (like?.inDoubt ?? 0) === 0) return null
  const about = { update: shown(update), like, zone, dashboardUrl }
  const message = isOpen
    ? doubtMessage({ ...about, didNotRunFrom: inFlightUntil(update, options) })
    : decidedDoubtMessage(about)
  const question = { message, updates: [update.id] }
  return like === null ? question : { ...question, doubts: like.inDoubt }
}

/** Further doubts are not counted. */
const maxRead = 200

async function openDoubts(ledger: Ledger) {
  const { rows, next } = await ledger.open('in-doubt', maxRead)
  return { rows: rows.filter(({ state }) => state === 'in-doubt'), isCut: next !== undefined }
}

/** Counts the updates in doubt that share the announcement of this one. `null`: it shares none. */
async function doubtsLike(ledger: Ledger, update: Update): Promise<SignCount | null> {
  const shared = sharedNewsOf(update)
  const { hold, doubt } = update
  if (shared === null || !hold || doubt?.sign === undefined) return null
  const { rows, isCut } = await openDoubts(ledger)
  const others = rows.filter((row) => row.id !== update.id && sharedNewsOf(row) === shared)
  const own = update.state === 'in-doubt' ? 1 : 0
  const date = hold.day.replace('day:', '')
  return { sign: doubt.sign, date, inDoubt: others.length + own, isAtLeast: isCut }
}

/** The announcements that updates in doubt share. */
export async function sharedNewsInDoubt(ledger: Ledger): Promise<readonly string[]> {
  const { rows } = await openDoubts(ledger)
  return [...new Set(rows.flatMap((row) => sharedNewsOf(row) ?? []))]
}
