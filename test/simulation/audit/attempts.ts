import { digest } from '../../../shared/platform/ids.ts'
import { broken, type Items, type Row, rowsOf } from './stored.ts'

/**
 * Checks that a plan tries a project again at the same time only if it provably did not run or had no price, or if a person reran it
 * after a refusal or expiry. Such a rerun runs no other project.
 */
export function lookAtAttempts({ id, plan, content, project, force }: Row, items: Items): void {
  if (plan === undefined) return
  if (force) broken(`${id} is forced for ${plan}`)
  const found = occurrenceOf({ plan, content, project }, items)
  const { startedAt, only } = found ? asOccurrence(found) : broken(`${id} is tried at no time of ${plan}`)
  const tries = rowsOf(items).filter(
    (row) => row.id !== id && row.plan === plan && row.content.digest === content.digest,
  )
  for (const row of tries) {
    if (row.state === 'released' || row.problem?.slug === 'no-price') continue
    if (mayBeBegunAgain(row) && attemptedAt(row) < startedAt) continue
    broken(`${id} is tried for ${plan}, though ${row.id} is ${row.state}`)
  }
  const last = tries.findLast((row) => attemptedAt(row) < startedAt)
  if (only === 'refused' && !(last && isRefusal(last))) broken(`${id} is tried for ${plan}, and was not refused before`)
  if (only !== 'refused' && last && last === tries.at(-1) && isRefusal(last))
    broken(`${id} is tried for ${plan} without a person's word, though ${last.id} was refused`)
}

/** Checks that a plan sends `run` for a project of one occurrence at most twice without a person's word. */
export function lookAtSends({ id, plan, content, project }: Row, items: Items): void {
  if (plan === undefined) return
  const found = occurrenceOf({ plan, content, project }, items)
  const { startedAt } = found ? asOccurrence(found) : broken(`${id} is sent at no time of ${plan}`)
  const sent = rowsOf(items).filter(
    (row) =>
      row.plan === plan &&
      row.content.digest === content.digest &&
      row.hold !== undefined &&
      row.hold.at >= startedAt &&
      !isNeverSent(row),
  )
  if (sent.length > 2) broken(`${id} is sent for ${plan}, after ${sent.length - 1} others of ${project}`)
}

const isNeverSent = ({ state, closedBy, problem }: Row): boolean =>
  state === 'released' && closedBy === 'sender' && problem?.slug === 'service-unreachable'

const occurrenceOf = ({ plan, content, project }: Pick<Row, 'content' | 'project'> & { plan: string }, items: Items) =>
  [...items.values()].find(
    ({ sk, time, ...item }) =>
      sk === 'occurrence' && item.plan === plan && digest(plan, String(time), project) === content.digest,
  )

const asOccurrence = (item: object) => item as { readonly startedAt: number; readonly only?: string }

const attemptedAt = ({ state, hold, createdAt, finishedAt = createdAt }: Row): number =>
  hold?.at ?? (state === 'refused' ? finishedAt : createdAt)

const mayBeBegunAgain = ({ state, problem, charged }: Row): boolean =>
  state === 'expired' || (state === 'refused' && !isUpToDate(problem?.slug)) || (state === 'settled' && charged === 0)

const isUpToDate = (slug: string | undefined): boolean => slug === 'already-updated' || slug === 'already-fresh'

const isRefusal = ({ state, problem }: Row): boolean =>
  state === 'refused' && problem?.slug !== 'plan-paused' && !isUpToDate(problem?.slug)
