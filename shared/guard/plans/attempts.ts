import { callerOfPlan, type Definitions } from '../../ledger/definitions/definitions.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import {
  isKnownToHaveRun,
  isTerminal,
  isUnderWay,
  mayHaveBeenSent,
  type Problem,
  tagEntries,
  type Update,
  type UpdateRequest,
  wasUpToDate,
} from '../../ledger/updates/update.ts'
import { hourMs } from '../../platform/clock.ts'
import { digest } from '../../platform/ids.ts'
import type { Plan } from '../plans-file.ts'
import { wantsUnownedApproval } from '../rules/approvals.ts'
import { budgetFor, ownedBy } from '../rules/projects.ts'
import type { Occurrence } from './stored-occurrence.ts'

/** The oldest update comes first. */
export interface ProjectAttempts {
  readonly project: string
  readonly updates: readonly Update[]
}

type RoundStart = Pick<Occurrence, 'startedAt' | 'only'>

export function isUnfinished({ updates }: ProjectAttempts, begun: RoundStart): boolean {
  if (!isInRound(updates, begun)) return false
  const last = updates.at(-1)
  if (!last) return true
  return isUnderWay(last.state) || mayRetry(updates, begun)
}

export function mayAttempt(
  { updates }: ProjectAttempts,
  { roundAt, ...begun }: RoundStart & { roundAt: number },
): boolean {
  if (!isInRound(updates, begun)) return false
  const last = updates.at(-1)
  if (!last || last.state === 'requested') return true
  return attemptedAt(last) < roundAt && mayRetry(updates, begun)
}

function isInRound(updates: readonly Update[], { startedAt, only }: RoundStart): boolean {
  return only === undefined || isRefusal(updates.findLast((update) => attemptedAt(update) < startedAt) ?? null)
}

/**
 * Retries what provably did not run: automatically if the sender proved it, otherwise when a person runs the plan
 * again. A price may come later, so a project without one is retried automatically, too.
 */
function mayRetry(updates: readonly Update[], { startedAt, only }: RoundStart): boolean {
  const last = updates.at(-1)
  if (!last || updates.length >= maxAttempts || updates.some(isKnownToHaveRun)) return false
  if (attemptedAt(last) < startedAt) return only === 'refused' ? isRefusal(last) : wasNotSent(last)
  if (hadNoPrice(last)) return true
  if (last.state !== 'released' || last.closedBy !== 'sender') return false
  return updates.filter((each) => attemptedAt(each) >= startedAt && mayHaveBeenSent(each)).length < maxSends
}

const maxAttempts = 50
/** An answer that proves too little must not be paid for in every round. A person's rerun counts from 0. */
const maxSends = 2

/** An update may be held or refused long after its request. */
function attemptedAt({ state, hold, finishedAt, createdAt }: Update): number {
  return hold?.at ?? (state === 'refused' ? (finishedAt ?? createdAt) : createdAt)
}

const mayHaveLaterAttempt = (update: Update | undefined): boolean => !update || wasNotSent(update) || isRefusal(update)

const wasNotSent = (update: Update): boolean =>
  update.state === 'released' ||
  update.state === 'expired' ||
  (update.state === 'settled' && !isKnownToHaveRun(update)) ||
  wasStoppedByPause(update)

export const isUnsent = (update: Update | null): boolean =>
  !update || (wasNotSent(update) && !isKnownToHaveRun(update)) || (update.state === 'requested' && !update.approval)

export const isRefusal = (update: Update | null): boolean =>
  update?.state === 'refused' && !wasUpToDate(update) && !wasStoppedByPause(update)

const hadNoPrice = ({ state, problem }: Update): boolean => state === 'refused' && problem?.slug === 'no-price'

/** A pause decides nothing about the project. */
const wasStoppedByPause = ({ problem }: Update): boolean => problem?.slug === 'plan-paused'

export const pausedSince = (update: Update | undefined, startedAt: number): string | null =>
  update && wasStoppedByPause(update) && attemptedAt(update) >= startedAt ? (update.problem?.detail ?? '') : null

export interface Results {
  readonly counts: Readonly<Record<ResultKind, number>>
  readonly unitsCharged: number
  readonly refusals: readonly { readonly project: string; readonly problem: Problem }[]
  readonly rows: readonly { readonly project: string; readonly update: Update | null }[]
}

/** Each kind of result with its label. */
export const resultKinds = {
  settled: 'settled',
  upToDate: 'up to date',
  refused: 'refused',
  noPrice: 'no price',
  released: 'released',
  inDoubt: 'in doubt',
  awaitingApproval: 'awaiting approval',
  requested: 'requested',
  expired: 'expired',
  unsent: 'not sent',
} as const
type ResultKind = keyof typeof resultKinds

/** After the occurrence's end no requested update starts. */
export function resultsOf(tried: readonly ProjectAttempts[], { doneAt }: Pick<Occurrence, 'doneAt'>): Results {
  const rows = tried.map(({ project, updates }) => ({ project, update: outcomeOf(updates) }))
  const isOver = doneAt !== undefined
  const counts = Object.fromEntries(
    Object.keys(resultKinds).map((name) => [
      name,
      rows.filter(({ update }) => countedAs(update, isOver) === name).length,
    ]),
  ) as Record<ResultKind, number>
  return {
    counts,
    unitsCharged: tried.flatMap(({ updates }) => updates).reduce((sum, { charged }) => sum + (charged ?? 0), 0),
    refusals: rows.flatMap(({ project, update }) =>
      update?.problem && isRefusal(update) ? [{ project, problem: update.problem }] : [],
    ),
    rows,
  }
}

function outcomeOf(updates: readonly Update[]): Update | null {
  const last = updates.at(-1) ?? null
  return last && isTerminal(last.state) ? (updates.findLast(isKnownToHaveRun) ?? last) : last
}

function countedAs(update: Update | null, isOver: boolean): ResultKind {
  if (update && isTerminal(update.state) && isKnownToHaveRun(update)) return 'settled'
  if (update && wasUpToDate(update)) return 'upToDate'
  if (update && hadNoPrice(update)) return 'noPrice'
  if (update && wasStoppedByPause(update)) return 'unsent'
  switch (update?.state) {
    case undefined:
      return 'unsent'
    case 'settled':
    case 'released':
      return 'released'
    case 'refused':
    case 'expired':
      return update.state
    case 'rejected':
    case 'cancelled':
      return 'refused'
    case 'awaiting-approval':
      return 'awaitingApproval'
    case 'in-doubt':
      return 'inDoubt'
    case 'running':
      return 'requested'
    case 'requested':
      // An approved update starts without its occurrence.
      return isOver && !update.approval ? 'unsent' : 'requested'
  }
}

export async function attemptsOf(
  ledger: Ledger,
  plan: Plan,
  { time }: Pick<Occurrence, 'time'>,
): Promise<ProjectAttempts[]> {
  let tried: ProjectAttempts[] = plan.projects.map((project) => ({ project, updates: [] }))
  for (let number = 0; number < maxAttempts; number++) {
    const wanted = tried.filter(({ updates }) => updates.length === number && mayHaveLaterAttempt(updates.at(-1)))
    if (wanted.length === 0) break
    const found = await ledger.updatesNamed(wanted.map(({ project }) => attemptId(plan.name, time, project, number)))
    const more = new Map(wanted.map(({ project }, position) => [project, found[position]]))
    tried = tried.map((each) => {
      const update = more.get(each.project)
      return update ? { ...each, updates: [...each.updates, update] } : each
    })
  }
  return tried
}

/** The service heard nothing of the project, and no rule refused it. */
export const wasNotReached = ({ updates }: ProjectAttempts): boolean =>
  isUnsent(updates.at(-1) ?? null) && !updates.some(mayHaveBeenSent)

export async function requestOf(
  ledger: Ledger,
  plan: Plan,
  { time, startedAt }: Occurrence,
  { project, updates }: ProjectAttempts,
): Promise<UpdateRequest> {
  const last = updates.at(-1)
  if (last?.state === 'requested') return last
  const { definitions, now } = await ledger.view()
  const isAgain = updates.length > 0 || startedAt - time > hourMs
  return {
    ...plannedRequest(definitions, plan, { time, project, now }),
    id: attemptId(plan.name, time, project, updates.length),
    content: { digest: digest(plan.name, String(time), project), count: 1 },
    ...(isAgain && { again: true as const }),
  }
}

/** What a plan asks for one of its projects at one of its times. */
export function plannedRequest(
  definitions: Definitions,
  plan: Plan,
  { time, project, now }: { time: number; project: string; now: number },
): Omit<UpdateRequest, 'id' | 'content'> {
  const { kind, query, leave, tags, whenShort } = plan
  return {
    kind,
    project,
    plan: plan.name,
    scheduledAt: time,
    budget: budgetFor(definitions, plan, project),
    ...ownedBy(definitions, project, plan.budget === undefined),
    caller: callerOfPlan(plan.name),
    via: 'schedule',
    ...(query && { query }),
    ...(leave !== undefined && { leave }),
    ...(tagEntries(tags).length > 0 && { tags: tags ?? {} }),
    ...(whenShort === 'ask' && { whenShort }),
    createdAt: now,
  }
}

/** The id derives from the arguments, so two processes make one record. */
export const attemptId = (plan: string, time: number, project: string, number: number): string =>
  `upd_${digest('plan', plan, String(time), project, String(number))}`

/**
 * One approval is enough for all projects of an occurrence that no budget lists. An update that needs a grant, or more
 * units than were approved before, needs an approval of its own.
 */
const isShared = (definitions: Definitions, { project, state, short, approvedBefore }: Update): boolean =>
  state === 'awaiting-approval' &&
  short === undefined &&
  approvedBefore === undefined &&
  wantsUnownedApproval(definitions, project)

/** The other updates that an approval of this update covers. */
export async function approvedWith(
  { ledger, plans }: { readonly ledger: Ledger; readonly plans: () => Promise<readonly Plan[]> },
  { id, plan: name, scheduledAt, project }: Update,
): Promise<readonly Update[]> {
  if (name === undefined || scheduledAt === undefined) return []
  const [{ definitions }, all] = await Promise.all([ledger.view(), plans()])
  const plan = all.find((each) => each.name === name)
  if (!plan || !wantsUnownedApproval(definitions, project)) return []
  const tried = await attemptsOf(ledger, plan, { time: scheduledAt })
  return tried
    .flatMap(({ updates }) => updates.at(-1) ?? [])
    .filter((update) => update.id !== id && isShared(definitions, update))
}

/** An approved update that covers this update and was approved before this update waited. */
export async function approvedBefore(
  ledger: Ledger,
  tried: readonly ProjectAttempts[],
  update: Update,
): Promise<Update | null> {
  const { definitions } = await ledger.view()
  if (!isShared(definitions, update)) return null
  const ids = tried.flatMap(({ updates }) => updates.at(-1)?.id ?? []).filter((id) => id !== update.id)
  const others = await ledger.updatesNamed(ids)
  return others.find((other) => other?.approval && wantsUnownedApproval(definitions, other.project)) ?? null
}
