import * as z from 'zod/mini'
import { Refusal } from '../../../shared/api/refusal.ts'
import { reason } from '../../../shared/api/schemas.ts'
import { units } from '../../../shared/guard/fields.ts'
import type { DecisionOutcome } from '../../../shared/guard/people/approvals.ts'
import { whyNotApprove, whyNotCancel, whyNotReject, whyNotResolve } from '../../../shared/guard/people/permissions.ts'
import { units as inUnits } from '../../../shared/guard/sentences.ts'
import type { Services } from '../../../shared/guard/services.ts'
import type { Problem, State, Update } from '../../../shared/ledger/updates/update.ts'
import type { View } from '../../../shared/ledger/views/views.ts'
import { assertNever, type Scope, toUnits, type Units } from '../../../shared/platform/words.ts'
import { NoneByEnter } from '../components/fields.tsx'
import { addressOf, words } from '../components/parts.tsx'
import { oneByOne } from '../each-update.ts'
import { readFields, typedIn, typedNumber } from '../forms.ts'
import type { PageRoutes, Visit } from '../session.tsx'

const actions = ['approve', 'reject', 'cancel', 'ran', 'did-not-run'] as const
export type Action = (typeof actions)[number]

const decision = z
  .strictObject({
    form: z.string(),
    do: z.enum(actions, 'takes one of the buttons'),
    id: z
      .array(z.string().check(z.regex(/^[\x21-\x7e]{1,100}$/)), 'takes at least one update: choose some first')
      .check(z.maxLength(100, 'takes at most 100 updates')),
    /** What each update that could be approved was shown to need, as `ShownUnits` writes it. */
    shown: z.exactOptional(z.array(z.string().check(z.regex(/^[\x21-\x7e]{1,100} \d{1,15}$/))).check(z.maxLength(100))),
    reason: z.exactOptional(reason),
    units: z.exactOptional(z.pipe(typedNumber, units)),
    /** The one update that was looked at, else the list of all that need a decision. */
    from: z.enum(['update', 'needs-you']),
  })
  .check(
    z.refine(({ do: action, reason }) => !isResolution(action) || reason !== undefined, {
      path: ['reason'],
      message: 'is needed to say whether it ran',
    }),
    z.refine(({ do: action, units }) => units === undefined || action === 'ran', {
      path: ['units'],
      message: 'goes with “It ran” only',
    }),
  )
type Decision = z.output<typeof decision>

const isResolution = (action: Action) => action === 'ran' || action === 'did-not-run'

/** Where the buttons lead. The page that the user came from shows the outcome of each update. */
export function addDecisions({ page }: PageRoutes, { guard, log }: Services): void {
  page('/dashboard/decide', {
    POST: async ({ form, mustHave, session, allowed, tell }) => {
      const back = backTo(form)
      const typed = typedIn(form, 'do', 'reason', 'units')
      try {
        const asked = readFields(form, decision, ['id', 'shown'])
        mustHave(...scopesOf(asked.do))
        const act = async (id: string) => {
          const decided = await decide(id, asked, { session, allowed })
          return (isTooLate(decided) ? await doneBefore(id, asked.do, session.sub) : null) ?? decided
        }
        const decided = await oneByOne(asked.id, act, log)
        const outcome = outcomeOf(decided, asked.do)
        return await tell(outcome.done.length > 0 ? outcome : { ...outcome, typed }, back)
      } catch (error) {
        if (error instanceof Refusal) return tell({ done: [], failed: [error.problem.detail], typed }, back)
        throw error
      }
    },
  })

  /** A user who presses twice reads what they did; `null`: it was another user, or is put to people again. */
  async function doneBefore(id: string, action: Action, sub: string): Promise<DecisionOutcome | null> {
    const update = await guard.ledger.update(id)
    const line = update?.history.findLast(({ state }) => state === outcomes[action])
    return update && update.state !== 'awaiting-approval' && line?.by === sub ? { kind: 'done', update } : null
  }

  function decide(
    id: string,
    { do: action, shown = [], reason, units }: Decision,
    { session: { sub }, allowed }: Pick<Visit, 'session' | 'allowed'>,
  ): Promise<DecisionOutcome> {
    switch (action) {
      case 'approve':
        return guard.approve(id, sub, { shown: shownOf(id, shown), ...(reason !== undefined && { reason }) })
      case 'reject':
        return guard.reject(id, sub, reason)
      case 'cancel':
        return guard.cancel(id, { caller: sub, isAdmin: allowed.scopes.has('admin') }, reason)
      case 'ran':
      case 'did-not-run':
        return guard.resolve(id, sub, {
          outcome: action,
          ...(units !== undefined && { units }),
          reason: reason ?? '',
        })
      default:
        return assertNever(action)
    }
  }
}

const isTooLate = (decided: DecisionOutcome) => decided.kind === 'problem' && decided.problem.slug === 'wrong-state'

const outcomes = {
  approve: 'requested',
  reject: 'rejected',
  cancel: 'cancelled',
  ran: 'settled',
  'did-not-run': 'released',
} as const satisfies Record<Action, State>

/** `null`: the page was made before pages said so. */
function shownOf(id: string, shown: readonly string[]): Units | null {
  const units = shown.find((each) => each.startsWith(`${id} `))?.slice(id.length + 1)
  return units === undefined ? null : toUnits(Number(units))
}

/** What a user sees of an update before they approve it goes with the form: they agree to no more. */
export const ShownUnits = ({ of: { id, state, estimated } }: { of: Update }) =>
  state === 'awaiting-approval' && estimated !== undefined ? (
    <input type="hidden" name="shown" value={`${id} ${estimated}`} />
  ) : null

const scopesOf = (action: Action): readonly Scope[] => (action === 'cancel' ? ['run', 'propose', 'admin'] : ['approve'])

function backTo(form: URLSearchParams): string {
  const [id, ...others] = form.getAll('id')
  const isOne = form.get('from') === 'update' && id !== undefined && others.length === 0
  return isOne ? addressOf(id) : '/dashboard/needs-you'
}

/** Each is shown by its own name, in the order in which they were decided. */
const outcomeOf = (decided: readonly DecisionOutcome[], action: Action) => ({
  done: decided.flatMap((each) =>
    each.kind === 'done'
      ? [`The ${each.update.kind} update of ${each.update.project} ${became(action, each.update)}.`]
      : [],
  ),
  failed: decided.flatMap((each) => (each.kind === 'problem' ? [each.problem.detail] : [])),
})

function became(action: Action, { state, charged, hold }: Update): string {
  switch (action) {
    case 'approve':
      return state === 'requested' ? 'is approved and begins in a moment' : `is approved, and ${words(state)} by now`
    case 'reject':
      return 'is rejected'
    case 'cancel':
      return 'is cancelled'
    case 'ran':
      return `is settled: ${inUnits(charged ?? 0)} charged`
    case 'did-not-run':
      return `is released: ${inUnits(hold?.units ?? 0)} given back`
  }
}

/** What this person may do about an update, and what keeps them from the rest: the guard's own rules, asked before. */
export function choicesFor(
  update: Update,
  view: View,
  { session: { sub }, allowed: { scopes } }: Pick<Visit, 'session' | 'allowed'>,
  options: Services['options'],
): { readonly possible: readonly Action[]; readonly barred: readonly string[] } {
  const mayApprove = scopes.has('approve')
  const mayCancel = (['run', 'propose', 'admin'] as const).some((scope) => scopes.has(scope))
  const rules: readonly (readonly [Action, boolean, Problem | null])[] = [
    ['approve', mayApprove, whyNotApprove(update, view, sub)],
    ['reject', mayApprove, whyNotReject(update, view, sub)],
    ['cancel', mayCancel, whyNotCancel(update, view, { caller: sub, isAdmin: scopes.has('admin') })],
    ['ran', mayApprove, whyNotResolve(update, view, 'ran', options)],
    ['did-not-run', mayApprove, whyNotResolve(update, view, 'did-not-run', options)],
  ]
  const concerned = rules.filter(([action, may]) => may && concerns(action, update))
  return {
    possible: concerned.flatMap(([action, , barred]) => (barred ? [] : [action])),
    barred: [
      ...new Set(
        concerned.flatMap(([action, , barred]) =>
          barred && (action === 'approve' || action === 'reject') ? [barred.detail] : [],
        ),
      ),
    ],
  }
}

function concerns(action: Action, { state }: Update): boolean {
  if (isResolution(action)) return state === 'in-doubt'
  return state === 'awaiting-approval' || (action === 'cancel' && state === 'requested')
}

const labels: Readonly<Record<Action, string>> = {
  approve: 'Approve',
  reject: 'Reject',
  cancel: 'Cancel it',
  ran: 'It ran',
  'did-not-run': 'It did not run',
}

const consequences: Readonly<Record<Action, string>> = {
  approve: 'it begins in a moment, unless it needs more by then than was shown',
  reject: 'it never runs, and nothing is spent',
  cancel: 'it never runs, and nothing is spent',
  ran: 'it is settled, at what it cost if that is given, else at the units held',
  'did-not-run': 'it is released, and the units held are given back',
}

/** What each button does, before it is pressed. */
export const Consequences = ({ of }: { of: readonly Action[] }) => (
  <p class="note">{of.map((action) => `${labels[action]}: ${consequences[action]}.`).join(' ')}</p>
)

/** The buttons of a form, the one that goes on first. */
export const Buttons = ({ of }: { of: readonly Action[] }) => (
  <p class="buttons">
    <NoneByEnter />
    {of.map((action) => (
      <button type="submit" name="do" value={action} class={action === 'approve' || action === 'ran' ? 'primary' : ''}>
        {labels[action]}
      </button>
    ))}
  </p>
)
