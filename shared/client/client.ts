import {
  type Budget,
  type Estimate,
  type Kind,
  type Problem,
  ProblemError,
  type State,
  type Update,
} from './answers.ts'
import { type Outcome, outcomeOf } from './outcome.ts'
import { type Connection, leavesOutcomeOpen, type Patience, pause, send } from './request.ts'
import type { BudgetList, Cancelled, UpdateList, Updates } from './shapes.ts'

export type { Audit, Budget, Entry, Estimate, Figures, Kind, Limit, Plan, State, Status, Update } from './answers.ts'
export { type Problem, ProblemError, type ProblemMembers, type ShortCounter } from './answers.ts'
export { EventError, type UnitGuardEvent, type VerifyOptions, verifyEvent } from './events.ts'
export type { Outcome } from './outcome.ts'

export interface UnitGuardOptions {
  /** The guard's address, such as `http://127.0.0.1:8787`. */
  url: string
  /** The bearer token, or a function that returns one. The function is called for each request, and again after a 401. */
  token: string | (() => string | Promise<string>)
  /** The deadline of a whole call with its retries. Default: two minutes. */
  deadlineMs?: number
  fetch?: typeof fetch
}

export interface CallOptions {
  deadlineMs?: number
  /** Ends the waiting; a submitted update continues. */
  signal?: AbortSignal
}

export interface AskOptions extends CallOptions {
  /**
   * The idempotency key. Default: a new key for each call. Use a key of your own if your program may restart: the same
   * key and content always mean the same updates.
   */
  key?: string
  /** Answers 202 at once; the guard's queue starts the updates. */
  respondAsync?: boolean
}

export interface CancelOptions extends CallOptions {
  reason?: string
}

export interface Cancellation {
  kind: 'cancelled'
  updates: Update[]
  notCancelled: { id: string; detail: string }[]
}

interface UpdateDetails {
  kind: Kind
  /** The budget that pays. Default: the owner of the project, else `account`. */
  budget?: string
  reason?: string
  /** The most units that each update may cost. */
  maxUnits?: number
  /** Skip cool-down and freshness; needs a reason and the right to force. */
  force?: boolean
  /** If units are short: start no update (default), start those that fit, or ask a person. */
  whenShort?: 'refuse' | 'fit' | 'ask'
  query?: Record<string, string | number | boolean>
  /** Up to 5, such as a client or a ticket. */
  tags?: Record<string, string>
}

export type UpdateWanted = UpdateDetails & { project: string }
/** 1 to 20 projects, each once. */
export type UpdatesWanted = UpdateDetails & { projects: readonly string[] }

export interface UpdateFilter {
  state?: State
  kind?: Kind
  project?: string
  budget?: string
  caller?: string
  via?: Update['via']
  plan?: string
  /** Updates that have all of these tags. */
  tags?: Record<string, string>
  /** RFC 3339. */
  since?: string
  until?: string
}

type NoAnswer = { kind: 'problem'; problem: Problem } | { kind: 'unanswered'; why: string }

/**
 * Refusals and problems are values; only mistakes of the program throw. All attempts of a call use one idempotency key, so
 * units are spent once.
 */
export class UnitGuard {
  readonly #connection: Connection
  readonly #deadlineMs: number

  /** @throws TypeError for an address that is not http or https, or a missing token. */
  constructor({ url, token, deadlineMs = 120_000, fetch = globalThis.fetch }: UnitGuardOptions) {
    if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
      throw new TypeError(`url must be the address of Unit Guard, such as http://127.0.0.1:8787; it is ${url}`)
    if (!token) throw new TypeError('token must be a bearer token, as npm run --silent token prints it; it is missing')
    const { origin, pathname } = new URL(url)
    this.#connection = {
      url: `${origin}${pathname.replace(/\/+$/, '')}`,
      token: async () => (typeof token === 'string' ? token : token()),
      renews: typeof token === 'function',
      fetch,
    }
    this.#deadlineMs = deadlineMs
  }

  /** Asks for one update, and waits until the update ends or needs a person, or until the deadline. */
  async update({ project, ...wanted }: UpdateWanted, how: AskOptions = {}): Promise<Outcome> {
    const [outcome] = await this.updates({ ...wanted, projects: [project] }, how)
    if (!outcome) throw new Error('one project has one outcome')
    return outcome
  }

  /** Sends one request, and returns one outcome for each project, in their order. */
  async updates(wanted: UpdatesWanted, how: AskOptions = {}): Promise<Outcome[]> {
    if (wanted.projects.length === 0) throw new TypeError('updates need a project')
    const key = how.key ?? newKey()
    if (!/^[\x21-\x7e]{1,255}$/.test(key)) throw new TypeError('a key has 1 to 255 visible ASCII characters')
    const headers = { 'idempotency-key': key, ...(how.respondAsync && { prefer: 'respond-async' }) }
    const patience = this.#patience(how)
    const sent = await send(this.#connection, { method: 'POST', path: '/updates', headers, body: wanted }, patience)
    const outcomes = toOutcomes(sent, wanted.projects, key)
    return Promise.all(outcomes.map((outcome) => this.#ended(outcome, patience)))
  }

  async wait(id: string, how: CallOptions = {}): Promise<Outcome | NoAnswer> {
    const patience = this.#patience(how)
    const shown = await this.#read<Update>(`/updates/${encodeURIComponent(id)}`, patience)
    return shown.kind === 'answered' ? this.#ended(outcomeOf(shown.value, false), patience) : shown
  }

  /**
   * Cancels up to 100 of this caller's updates that have not started. If an attempt was lost, it reads each update, because that
   * attempt may have cancelled it.
   */
  async cancel(ids: readonly string[], { reason, ...how }: CancelOptions = {}): Promise<Cancellation | NoAnswer> {
    const patience = this.#patience(how)
    const body = { ids, ...(reason !== undefined && { reason }) }
    const sent = await send(this.#connection, { method: 'POST', path: '/updates/cancel', body }, patience)
    if (sent.kind === 'unanswered') return { kind: sent.kind, why: sent.why }
    // A test proves that answers have these types.
    const { updates = [], notCancelled = [] } = sent.body as Partial<Cancelled>
    const problem = sent.kind === 'problem' ? sent.problem : undefined
    const left = problem ? ids.map((id) => ({ id, detail: undefined })) : notCancelled
    const nothing = { cancelled: [], notCancelled, areKnown: true }
    const again = sent.mayHaveActed ? await this.#lookAt(left, patience) : nothing
    if (!problem || again.cancelled.length > 0)
      return { kind: 'cancelled', updates: [...updates, ...again.cancelled], notCancelled: again.notCancelled }
    const isProven = meetsEachAttempt.has(problem.type) || (again.areKnown && showsInState.has(problem.type))
    const mayBeCancelled = leavesOutcomeOpen.has(problem.type) || (sent.mayHaveActed && !isProven)
    return mayBeCancelled ? { kind: 'unanswered', why: problem.detail } : { kind: 'problem', problem }
  }

  /** Spends nothing. */
  async estimate(wanted: { kind: Kind; projects: readonly string[]; budget?: string }, how: CallOptions = {}) {
    const { kind, projects, budget } = wanted
    const named = projects.map((project) => `project=${encodeURIComponent(project)}`)
    const query = [queryOf({ kind, budget }), ...named].join('&')
    const shown = await this.#read<Estimate>(`/estimates?${query}`, this.#patience(how))
    return shown.kind === 'answered' ? ({ kind: 'estimate', estimate: shown.value } as const) : shown
  }

  async budgets(how: CallOptions = {}) {
    const shown = await this.#read<BudgetList>('/budgets', this.#patience(how))
    return shown.kind === 'answered' ? ({ kind: 'budgets', budgets: shown.value.budgets } as const) : shown
  }

  async budget(name: string, how: CallOptions = {}) {
    const shown = await this.#read<Budget>(`/budgets/${encodeURIComponent(name)}`, this.#patience(how))
    return shown.kind === 'answered' ? ({ kind: 'budget', budget: shown.value } as const) : shown
  }

  /** Updates, newest first, page by page; the deadline is per page. @throws ProblemError, or Error if no answer came. */
  async *list(filter: UpdateFilter = {}, how: CallOptions = {}): AsyncGenerator<Update, void, void> {
    for (let cursor: string | undefined; ; ) {
      const { tags = {}, ...others } = filter
      const tag = Object.entries(tags).map(([key, value]) => `${key}:${value}`)
      const query = queryOf({ ...others, tag, limit: pageSize, cursor })
      const page = await this.#read<UpdateList>(`/updates?${query}`, this.#patience(how))
      if (page.kind === 'problem') throw new ProblemError(page.problem)
      if (page.kind === 'unanswered') throw new Error(`no answer: ${page.why}`)
      yield* page.value.updates
      cursor = page.value.next
      if (cursor === undefined) return
    }
  }

  async #ended(outcome: Outcome, patience: Patience): Promise<Outcome> {
    let latest = outcome
    for (let ms = firstPollMs; latest.kind === 'pending'; ms = Math.min(2 * ms, maxPollMs)) {
      if (performance.now() + ms >= patience.until) return latest
      await pause(ms, patience.signal)
      const shown = await this.#read<Update>(`/updates/${latest.update.id}`, patience)
      if (shown.kind !== 'answered') return latest
      latest = outcomeOf(shown.value, false)
    }
    return latest
  }

  async #lookAt(left: readonly { id: string; detail: string | undefined }[], patience: Patience) {
    const cancelled: Update[] = []
    const notCancelled: Cancellation['notCancelled'] = []
    let areKnown = true
    for (const { id, detail } of left) {
      const shown = await this.#read<Update>(`/updates/${encodeURIComponent(id)}`, patience)
      areKnown &&=
        shown.kind === 'answered' || (shown.kind === 'problem' && shown.problem.type === '/problems/not-found')
      const state = shown.kind === 'answered' ? shown.value.state : 'not known'
      if (shown.kind === 'answered' && state === 'cancelled') cancelled.push(shown.value)
      else notCancelled.push({ id, detail: detail ?? `${id} was not cancelled; its state is ${state}.` })
    }
    return { cancelled, notCancelled, areKnown }
  }

  async #read<Shown>(path: string, patience: Patience): Promise<{ kind: 'answered'; value: Shown } | NoAnswer> {
    const sent = await send(this.#connection, { method: 'GET', path }, patience)
    if (sent.kind === 'problem') return { kind: 'problem', problem: sent.problem }
    // A test proves that answers have these types.
    return sent.kind === 'answered'
      ? { kind: 'answered', value: sent.body as Shown }
      : { kind: sent.kind, why: sent.why }
  }

  #patience({ deadlineMs = this.#deadlineMs, signal }: CallOptions): Patience {
    return { until: performance.now() + deadlineMs, signal }
  }
}

const pageSize = 200
const firstPollMs = 250
const maxPollMs = 5_000

/** An earlier attempt had the same problem. After any other problem, it may be recorded or still be at work. */
const meetsEachAttempt: ReadonlySet<string> = new Set([
  '/problems/invalid-request',
  '/problems/key-reused',
  '/problems/method-not-allowed',
  '/problems/too-large',
  '/problems/unsupported-media-type',
])

/** After these problems, the states of the updates show whether an earlier attempt cancelled them. */
const showsInState: ReadonlySet<string> = new Set(['/problems/not-found', '/problems/wrong-state'])

type Sent = Awaited<ReturnType<typeof send>>

function toOutcomes(sent: Sent, projects: readonly string[], key: string): Outcome[] {
  if (sent.kind === 'unanswered') return projects.map(() => ({ kind: sent.kind, why: sent.why, key }))
  const { updates = [], notRecorded = [] } = sent.body as Partial<Updates>
  const earlier = sent.kind === 'answered' ? (sent.headers.get('unit-guard-replayed') ?? '').split(', ') : []
  // The answers have the order of the request. An earlier update may name the project by another spelling.
  const recorded = projects.filter((project) => !notRecorded.some((each) => each.project === project))
  return projects.map((project) => {
    const update =
      recorded.length === updates.length
        ? updates[recorded.indexOf(project)]
        : updates.find((each) => each.project === project)
    if (update) return outcomeOf(withReason(update, sent), earlier.includes(update.id))
    const missing = notRecorded.find((each) => each.project === project)
    const problem = missing?.problem ?? (sent.kind === 'problem' ? sent.problem : undefined)
    if (!problem) return { kind: 'unanswered', why: `The answer has no update of ${project}.`, key }
    const isOpen = leavesOutcomeOpen.has(problem.type) || (sent.mayHaveActed && !meetsEachAttempt.has(problem.type))
    return isOpen ? { kind: 'unanswered', why: problem.detail, key } : { kind: 'problem', problem, key }
  })
}

/** If the answer is a problem, its refused update has no problem of its own. */
const withReason = (update: Update, sent: Sent): Update =>
  update.state === 'refused' && !update.problem && sent.kind === 'problem'
    ? { ...update, problem: sent.problem }
    : update

function queryOf(members: object): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(members))
    for (const each of Array.isArray(value) ? value : [value]) if (each !== undefined) query.append(name, String(each))
  return query.toString()
}

const newKey = (): string =>
  [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('')
