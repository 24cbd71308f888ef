import type { Problem, Update, UpdateRequest } from '../../ledger/updates/update.ts'
import { aboutUpdate } from '../../platform/log.ts'
import { type GuardParts, requestLastsMs, withParts } from '../options.ts'
import { namesOfProject } from '../rules/projects.ts'
import { decideEarly } from './decide.ts'
import type { Execution } from './execute.ts'
import type { Quotes } from './quote.ts'

export interface StartResult {
  readonly update: Update
  readonly failure?: Problem
}

export type Resume = ReturnType<typeof createResume>

interface ResumeParts extends Pick<GuardParts, 'ledger' | 'serviceToken' | 'log' | 'options'> {
  execution: Execution
  quotes: Quotes
}

/** Starts updates that are queued, approved, or left by a process that ran out of time. */
export const createResume = (parts: ResumeParts) => ({
  ...withParts(parts, { start }),
  begin: (request: UpdateRequest, endsAt: number) => aboutUpdate(request, () => begin(parts, request, endsAt)),
})

/** Without an estimate the update stays `requested`, and the sweep tries again. */
async function start(parts: ResumeParts, id: string, endsAt: number): Promise<Update | null> {
  const found = await parts.ledger.update(id)
  // Occurrences start a plan's updates in order. An approved update starts here.
  const isOfOccurrence = found?.plan !== undefined && !found.approval
  if (found?.state !== 'requested' || isOfOccurrence) return found
  return aboutUpdate(found, async () => (await begin(parts, found, endsAt)).update)
}

/** The update may not be recorded yet. */
async function begin(parts: ResumeParts, request: UpdateRequest, endsAt: number): Promise<StartResult> {
  const { execution, options, quotes, log } = parts
  const known = await execution.look(request)
  const { update } = known.asked
  if (update && (update.state !== 'requested' || isTooOld(update, known.view.now))) return { update }
  const early = decideEarly(known, options)
  if (early.kind === 'refuse') return { update: await execution.refuse(known, early.problem) }
  await parts.serviceToken()
  const names = namesOfProject(known.view.definitions, request.project)
  for (;;) {
    const quoted = await quotes.quote(request, names)
    if (quoted.kind === 'problem') {
      log.info('stays-queued', { update: request.id, problem: quoted.problem.slug })
      return { update: await execution.queue(known, quoted.problem.detail), failure: quoted.problem }
    }
    // Read again from memory, because an estimate may have renewed the token.
    const token = await parts.serviceToken()
    const admitted = await execution.admit(known, quoted, endsAt)
    if (admitted === 'stale') continue
    return { update: admitted.ours ? await execution.run(admitted.update, token, names) : admitted.update }
  }
}

const isTooOld = ({ requestedAt, createdAt }: Update, now: number): boolean =>
  now - (requestedAt ?? createdAt) >= requestLastsMs
