import type { MakeChange } from '../ledger/changes.ts'
import {
  budgetNamed,
  type Caller,
  callerNamed,
  chainOf,
  type Definitions,
  namesOf,
  pauseOf,
  rootBudget,
} from '../ledger/definitions.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { Problem, Request } from '../ledger/update.ts'
import type { View } from '../ledger/views.ts'
import type { Clock } from '../platform/clock.ts'
import { scopes as anyScope, type Scope } from '../platform/words.ts'
import {
  type By,
  type Changed,
  foretold,
  type Lifting,
  laterStop,
  type Preview,
  staleness,
  toChanged,
} from './budgeting.ts'
import { covers } from './charging.ts'
import { invalidRequest, problem } from './problems.ts'

/** Who asks, and what they bring along: a token names scopes and budgets, a person in Slack brings nothing. */
export interface Named {
  readonly caller: string
  readonly token?: { readonly scopes: ReadonlySet<Scope>; readonly budgets: '*' | readonly string[] }
}

/** What they may do. */
export interface Allowed {
  readonly isListed: boolean
  readonly scopes: ReadonlySet<Scope>
  readonly mayForce: boolean
  readonly mayChargeAncestors: boolean
  readonly isDisabled: boolean
  mayCharge(budget: string): boolean
}

/** What is listed about a caller narrows their token; for whoever has none, it is all that they may do. */
export function allowedTo(definitions: Definitions, { caller, token }: Named): Allowed {
  const listed = callerNamed(definitions, caller)
  const given: Named['token'] = token ?? unlisted(listed)
  const isDisabled = listed?.disabled === true
  const may = (scope: Scope) => given.scopes.has(scope) && (listed?.scopes?.includes(scope) ?? true)
  const scopes = new Set([...given.scopes].filter((scope) => !isDisabled && may(scope)))
  return {
    isListed: listed !== undefined,
    scopes,
    isDisabled,
    mayForce: listed?.mayForce ?? scopes.has('admin'),
    mayChargeAncestors: listed?.mayChargeAncestors ?? scopes.has('admin'),
    mayCharge: (budget) =>
      covers(definitions, given.budgets, budget) && covers(definitions, listed?.budgets ?? '*', budget),
  }
}

function unlisted(listed: Caller | undefined): NonNullable<Named['token']> {
  const scopes = new Set(listed?.scopes ?? [])
  return { scopes, budgets: listed?.budgets ?? (scopes.has('admin') ? '*' : []) }
}

/** What of a token is kept with a request, so that the list of callers can be held against it again. */
export function keptOf(
  definitions: Definitions,
  { scopes, budgets }: NonNullable<Named['token']>,
  budget: string,
): NonNullable<Request['token']> {
  return {
    scopes: (['run', 'propose', 'admin'] as const).filter((scope) => scopes.has(scope)),
    budgets:
      budgets === '*' ? '*' : chainOf(definitions, budget).flatMap(({ name }) => (budgets.includes(name) ? name : [])),
  }
}

/** What whoever asked may do by now; `null`: nobody says, of what schedules ask for, and of records without their token. */
export function allowedNow(definitions: Definitions, { caller, via, token }: Request): Allowed | null {
  if (token) return allowedTo(definitions, { caller, token: { ...token, scopes: new Set(token.scopes) } })
  return via === 'slack' ? allowedTo(definitions, { caller }) : null
}

/** Whether an approval counts by now: the approver's token is not kept, so the list of callers alone can take it back. */
export function mayStillApprove(definitions: Definitions, by: string): boolean {
  const token = { scopes: new Set(anyScope), budgets: '*' } as const
  return allowedTo(definitions, by.startsWith('slack:') ? { caller: by } : { caller: by, token }).scopes.has('approve')
}

/** What keeps a caller from asking for any update. */
export function barredFromAsking(caller: string, { isDisabled, scopes }: Allowed): Problem | null {
  if (isDisabled) return problem('forbidden', `${caller} is disabled; ask an administrator.`)
  if (scopes.has('run') || scopes.has('propose')) return null
  return problem('forbidden', `${caller} needs the scope run or propose for this.`)
}

/** What keeps a caller from having it forced, or charged to one of these budgets. */
export function barredFromCharging(
  { caller, token }: Pick<Request, 'caller'> & { token?: unknown },
  allowed: Allowed,
  { force, budgets }: { force: boolean | undefined; budgets: readonly string[] },
): Problem | null {
  if (force && !allowed.mayForce)
    return problem('forbidden', `${caller} may not force updates; that takes the scope admin.`)
  const barred = budgets.find((budget) => !allowed.mayCharge(budget))
  if (barred === undefined) return null
  const who = token ? 'its token names' : 'the list of callers names'
  const detail = `${caller} may not charge the budget ${barred}; ${who} the budgets that it may.`
  return problem('forbidden', detail, { budget: barred })
}

/** How long what was read about callers is believed, for what spends and changes nothing. */
const believedForMs = 2_000

/** Changes of who may do what and of which plans rest: revisions of the definitions, so they count at once. */
export function createCallers({ ledger, clock }: { ledger: Ledger; clock: Clock }) {
  /** @param how.atOnce what was read a moment ago is not enough. */
  const allowed = async (named: Named, how: { atOnce: boolean }): Promise<Allowed> =>
    allowedTo(await definitionsNow(how), named)

  /** Requests a minute, as far as this process has seen; `undefined`: as many as they like. */
  function rateOf(caller: string): number | undefined {
    const seen = ledger.lastSeen()
    return seen ? callerNamed(seen.definitions, caller)?.ratePerMinute : undefined
  }

  async function definitionsNow({ atOnce }: { atOnce: boolean }): Promise<Definitions> {
    const seen = ledger.lastSeen()
    const isBelieved = !atOnce && seen !== null && clock.now() - seen.at <= believedForMs
    return isBelieved ? seen.definitions : (await ledger.view()).definitions
  }

  async function putCaller(name: string, caller: Caller, by: By): Promise<Changed> {
    let created = false
    const outcome = await ledger.change(by.caller, (view) => {
      created = !callerNamed(view.definitions, name)
      return listing(view, name, caller, by)
    })
    return toChanged(outcome, () => created)
  }

  /** What `putCaller` would make of the books, or say instead; nothing is written. */
  async function previewCaller(name: string, caller: Caller, by: By): Promise<Preview> {
    const before = await ledger.view()
    return foretold(ledger, before, listing(before, name, caller, by))
  }

  /** Stops a caller, listed or not, or lets them go on; all else that is listed of them stays as it is. */
  async function disableCaller(name: string, by: By & { reason: string; disabled: boolean }): Promise<Changed> {
    const change: MakeChange = ({ definitions }) => {
      if (name === forAll && by.disabled) return { refused: noCallerForAll }
      const { disabled: was, ...rest } = callerNamed(definitions, name) ?? {}
      // Whoever does it a second time changes nothing, and makes no line.
      if ((was ?? false) === by.disabled) return { refused: null }
      const note = { type: 'caller', budget: rootBudget, reason: disabling(name, by) } as const
      const caller: Caller = by.disabled ? { ...rest, disabled: true } : rest
      return { definitions: { ...definitions, callers: { ...definitions.callers, [name]: caller } }, note }
    }
    return toChanged(await ledger.change(by.caller, change))
  }

  async function deleteCaller(name: string, by: By): Promise<Changed> {
    const change: MakeChange = ({ definitions }) => {
      if (!callerNamed(definitions, name)) return { refused: problem('not-found', `${name} is not listed.`) }
      const stale = staleness(definitions, by)
      if (stale) return { refused: stale }
      const { [name]: _gone, ...callers } = definitions.callers ?? {}
      const note = {
        type: 'caller',
        budget: rootBudget,
        reason: by.reason ?? `${name} is not listed any more`,
      } as const
      return { definitions: { ...definitions, callers }, note }
    }
    return toChanged(await ledger.change(by.caller, change))
  }

  async function pausePlan(plan: string, by: By & { reason: string }): Promise<Changed> {
    const change: MakeChange = ({ definitions, now }) => {
      // Who stopped it first, and why, is what matters.
      if (pauseOf(definitions, plan)) return { refused: null }
      const pause = { reason: by.reason, by: by.caller, at: now }
      const note = { type: 'pause', budget: rootBudget, plan, reason: by.reason } as const
      return { definitions: { ...definitions, pausedPlans: { ...definitions.pausedPlans, [plan]: pause } }, note }
    }
    return toChanged(await ledger.change(by.caller, change))
  }

  async function resumePlan(plan: string, by: Lifting): Promise<Changed> {
    const change: MakeChange = (view) => {
      const { definitions } = view
      const pause = pauseOf(definitions, plan)
      if (!pause) return { refused: null }
      const later = laterStop(pause, view, by, `The plan ${plan} was paused`)
      if (later) return { refused: later }
      const { [plan]: _resumed, ...pausedPlans } = definitions.pausedPlans ?? {}
      const note = { type: 'resume', budget: rootBudget, plan, reason: by.reason } as const
      return { definitions: { ...definitions, pausedPlans }, note }
    }
    return toChanged(await ledger.change(by.caller, change))
  }

  return { allowed, rateOf, putCaller, previewCaller, disableCaller, deleteCaller, pausePlan, resumePlan }
}

/** Kept for what callers have who are not listed: it must never give `mayForce` or `mayChargeAncestors` to all. */
const forAll = '*'
const noCallerForAll = invalidRequest([{ path: 'sub', message: 'No caller can be named *.' }])

/** One caller as they are wanted, among the others as they are. */
function listing({ definitions }: View, name: string, caller: Caller, by: By) {
  if (name === forAll) return { refused: noCallerForAll }
  const stale = staleness(definitions, by, callerNamed(definitions, name) ? null : `caller ${name}`)
  if (stale) return { refused: stale }
  const given = { ...definitions, callers: { ...definitions.callers, [name]: caller } }
  const names = namesOf(given, name)
  if (new Set(names).size < names.length) {
    const message = `The persons of ${name} lead in a circle: ${names.slice(0, -1).join(', ')}. Name the person at the end of the chain.`
    return { refused: invalidRequest([{ path: 'person', message }]) }
  }
  const unknown = [caller.budgets ?? []].flat().filter((budget) => budget !== '*' && !budgetNamed(definitions, budget))
  if (unknown.length > 0) {
    const errors = unknown.map((budget) => ({ path: 'budgets', message: `There is no budget ${budget}.` }))
    return { refused: invalidRequest(errors) }
  }
  const note = { type: 'caller', budget: rootBudget, reason: by.reason ?? `${name} is listed` } as const
  return { definitions: given, note }
}

const disabling = (name: string, { disabled, reason }: { disabled: boolean; reason: string }): string =>
  `${name} is ${disabled ? 'disabled' : 'enabled'}: ${reason}`
