import * as z from 'zod/mini'
import { Refusal } from '../../../shared/api/refusal.ts'
import { reason } from '../../../shared/api/schemas.ts'
import type { Guard } from '../../../shared/guard/guard.ts'
import type { ShownProposal } from '../../../shared/guard/inbox/answered-doubts.ts'
import { deliveryOutcomes, deliveryScopes } from '../../../shared/guard/inbox/close-delivery.ts'
import {
  allDecisions,
  type Decision,
  type DecisionOutcome,
  decisions,
  isResolution,
} from '../../../shared/guard/people/decisions.ts'
import { units as inUnits } from '../../../shared/guard/sentences.ts'
import type { Update } from '../../../shared/ledger/updates/update.ts'
import { toUnits, type Units } from '../../../shared/platform/words.ts'
import { someUnits, units } from '../../../shared/records/common-fields.ts'
import { answersPath } from '../components/answered-doubts.tsx'
import type { FieldFaults } from '../flash.ts'
import { faultsIn, forEachId, inputOf, notDone, numberSchema, readFields } from '../forms.ts'
import { action } from '../kit/action.tsx'
import { inboxPath, updateAddress, words } from '../kit/parts.tsx'
import type { PageRoutes, PageServices } from '../kit/session.tsx'
import { updateIn } from './update.tsx'

const decisionSchema = z
  .strictObject({
    do: z.enum(allDecisions, 'must be one of the buttons'),
    id: z
      .array(z.string().check(z.regex(/^[\x21-\x7e]{1,100}$/)), 'choose at least one update first')
      .check(z.maxLength(100, 'choose at most 100 updates')),
    /** Id and units, as `ShownUnitsField` writes them. */
    shown: z.exactOptional(z.array(z.string().check(z.regex(/^[\x21-\x7e]{1,100} \d{1,15}$/))).check(z.maxLength(100))),
    reason: z.exactOptional(reason),
    units: z.exactOptional(z.pipe(numberSchema, units)),
    from: z.enum(['update', 'inbox']),
    /** The limit for all chosen updates together. */
    inAll: z.exactOptional(z.pipe(numberSchema, units)),
  })
  .check(
    z.refine(({ do: decision, reason }) => !isResolution(decision) || reason !== undefined, {
      path: ['reason'],
      message: 'is needed to say whether it ran',
    }),
    z.refine(({ do: decision, units }) => units === undefined || decision === 'ran', {
      path: ['units'],
      message: 'is allowed only with “It ran”',
    }),
  )
type DecisionForm = z.output<typeof decisionSchema>

/** The fields `units-<id>` hold the caps of “Approve up to”. */
const capsSchema = z.record(z.string(), z.pipe(numberSchema, units))
type Caps = ReadonlyMap<string, Units>
const capPrefix = 'units-'
const notePrefix = 'note-'
const isOfRow = (name: string) => name.startsWith(capPrefix) || name.startsWith(notePrefix)

/** The fields that a user fills in. A row's empty fields are left out, because a flash has little room. */
const fieldsOf = (form: URLSearchParams): readonly string[] => [
  ...['reason', 'units', 'inAll'].filter((name) => form.has(name)),
  ...[...form].filter(([name, value]) => isOfRow(name) && value !== '').map(([name]) => name),
]

/** If a row's own button was pressed, a fault of the reason is shown in that row. `null`: the refusal is not about fields. */
function faultsOf(error: Refusal, form: URLSearchParams): FieldFaults | null {
  const [, id] = form.get('one')?.split(' ') ?? []
  const { reason, ...others } = faultsIn(error, ['id', ...fieldsOf(form)]) ?? {}
  if (reason !== undefined) return { ...others, [id === undefined ? 'reason' : `${notePrefix}${id}`]: reason }
  return Object.keys(others).length === 0 ? null : others
}

/** A row's own button ignores the chosen rows. */
function plainFields(form: URLSearchParams): URLSearchParams {
  const fields = new URLSearchParams([...form].filter(([name]) => !isOfRow(name)))
  const [action = '', id = ''] = fields.get('one')?.split(' ') ?? []
  if (fields.has('one')) {
    for (const name of ['one', 'id', 'inAll', 'reason']) fields.delete(name)
    fields.set('do', action)
    fields.set('id', id)
    fields.set('reason', form.get(`${notePrefix}${id}`) ?? '')
  }
  return fields
}

export function addDecisions({ page }: PageRoutes, { log }: PageServices): void {
  page(answersPath, { POST: bookAnswers(log) })
  page('/dashboard/updates/:id/delivery', { POST: closeDelivery })
  page('/dashboard/decide', {
    POST: async ({ form, mustHave, session, permissions, redirect, guard }) => {
      const back = backTo(form)
      const input = inputOf(form, ...new Set(['do', ...fieldsOf(form)]))
      try {
        const fields = readFields(plainFields(form), decisionSchema, ['id', 'shown'])
        const { do: decision, shown = [], reason, units } = fields
        const caps = decision === 'approve' ? capsOf(form, fields.id) : new Map()
        const { fitting, others } = fitInto(fields)
        mustHave(...decisions[decision].scopes)
        const decideOne = async (id: string) => {
          const how = { reason, units: caps.get(id) ?? units, shown: shownUnitsOf(id, shown) }
          const outcome = await guard.decide(decision, id, permissions, how)
          return (isTooLate(outcome) ? await earlierDecision(guard, id, decision, session.sub) : null) ?? outcome
        }
        const { done, failed } = toFlash(await forEachId(fitting, decideOne, log), decision)
        const flash = { done, failed: [...failed, ...others] }
        return await redirect(done.length > 0 ? flash : { ...flash, input }, back)
      } catch (error) {
        if (!(error instanceof Refusal)) throw error
        const faults = faultsOf(error, form)
        const failed = [faults?.id ?? (faults ? notDone : error.problem.detail)]
        return redirect({ done: [], failed, input, ...(faults && { faults }) }, back)
      }
    },
  })
}

const deliverySchema = z.strictObject({
  outcome: z.enum(deliveryOutcomes, 'must be one of the buttons'),
  units: z.exactOptional(z.pipe(numberSchema, someUnits)),
  reason,
})

const closeDelivery = action({
  schema: deliverySchema,
  keeps: ['units', 'reason'],
  back: ({ c }) => updateAddress(c.req.param('id') ?? ''),
  async act(visit, { outcome, units, reason }) {
    visit.mustHave(...deliveryScopes[outcome])
    const given = outcome === 'given-back' ? units : undefined
    const { id } = await updateIn(visit)
    const closed = await visit.guard.closeDelivery(outcome, id, visit.permissions, { reason, units: given })
    if (closed.kind === 'problem') throw new Refusal(closed.problem)
    const { project, charged = 0 } = closed.update
    return outcome === 'came'
      ? `The data of ${project} came.`
      : `The service gave units back: the update of ${project} is charged ${inUnits(charged)}.`
  },
})

const proposedSchema = z.strictObject({
  because: reason,
  proposed: z
    .array(z.string().check(z.regex(/^[\x21-\x7e]{1,100} (ran|did-not-run) \d{1,15}$/)), 'choose at least one update')
    .check(z.maxLength(100, 'choose at most 100 updates')),
})

/** Books only what the page showed. */
const bookAnswers = (log: PageServices['log']) =>
  action({
    scopes: decisions.ran.scopes,
    schema: proposedSchema,
    lists: ['proposed'],
    keeps: ['because'],
    back: () => inboxPath,
    async act({ c, guard, permissions, session }, { because, proposed }) {
      const shown = new Map(proposed.map(shownProposal))
      const how = { reason: because, endsAt: c.var.endsAt }
      const bookOne = async (id: string) => {
        const proposal = shown.get(id)
        const booked = await guard.resolveByAnswer(id, permissions, { ...how, shown: proposal })
        if (!proposal || !isTooLate(booked)) return booked
        return (await earlierDecision(guard, id, proposal.outcome, session.sub)) ?? booked
      }
      const results = await forEachId(shown.keys(), bookOne, log)
      const told = results.map((each) => toFlash([each], isReleased(each) ? 'did-not-run' : 'ran'))
      return { done: told.flatMap(({ done }) => done), failed: told.flatMap(({ failed }) => failed) }
    },
  })

const isReleased = (outcome: DecisionOutcome) => outcome.kind === 'done' && outcome.update.state === 'released'

function shownProposal(text: string): [id: string, shown: ShownProposal] {
  const [id = '', outcome, units] = text.split(' ')
  return [id, { outcome: outcome === 'ran' ? 'ran' : 'did-not-run', units: toUnits(Number(units)) }]
}

const isTooLate = (outcome: DecisionOutcome) => outcome.kind === 'problem' && outcome.problem.slug === 'wrong-state'

/** Finds the decision of the user's first press. `null`: another user decided. */
async function earlierDecision(
  guard: Guard,
  id: string,
  decision: Decision,
  sub: string,
): Promise<DecisionOutcome | null> {
  const update = await guard.ledger.update(id)
  const line = update?.history.findLast(({ state }) => state === decisions[decision].becomes)
  return update && update.state !== 'awaiting-approval' && line?.by === sub ? { kind: 'done', update } : null
}

function capsOf(form: URLSearchParams, ids: readonly string[]): Caps {
  const chosen = [...form].filter(([name]) => name.startsWith(capPrefix) && ids.includes(name.slice(capPrefix.length)))
  const caps = Object.entries(readFields(new URLSearchParams(chosen), capsSchema))
  return new Map(caps.map(([name, cap]) => [name.slice(capPrefix.length), cap]))
}

/** Chooses, in the order of the page, the updates that fit into the limit. */
function fitInto({ id: ids, do: decision, inAll, shown = [] }: DecisionForm) {
  if (inAll === undefined || decision !== 'approve') return { fitting: ids, others: [] }
  const fitting: string[] = []
  let left: number = inAll
  for (const id of ids) {
    const needed = shownUnitsOf(id, shown)
    if (needed === null || needed > left) continue
    left -= needed
    fitting.push(id)
  }
  const rest = ids.length - fitting.length
  const others = rest === 0 ? [] : [`${rest} of ${ids.length} did not fit into ${inUnits(inAll)} and still wait.`]
  return { fitting, others }
}

/** `null`: the page did not show units for this update. */
function shownUnitsOf(id: string, shownUnits: readonly string[]): Units | null {
  const units = shownUnits.find((each) => each.startsWith(`${id} `))?.slice(id.length + 1)
  return units === undefined ? null : toUnits(Number(units))
}

function backTo(form: URLSearchParams): string {
  const [id, ...others] = form.getAll('id')
  const isSingle = form.get('from') === 'update' && id !== undefined && others.length === 0
  return isSingle ? updateAddress(id) : inboxPath
}

const toFlash = (results: readonly DecisionOutcome[], decision: Decision) => ({
  done: results
    .filter((each) => each.kind === 'done')
    .map(
      (each) => `The ${each.update.kind} update of ${each.update.project} is ${outcomeText(decision, each.update)}.`,
    ),
  failed: results.filter((each) => each.kind === 'problem').map((each) => each.problem.detail),
})

function outcomeText(decision: Decision, { state, charged, hold }: Update): string {
  if (decision === 'ran') return `settled: ${inUnits(charged ?? 0)} charged`
  if (decision === 'did-not-run') return `released: ${inUnits(hold?.units ?? 0)} returned`
  const { done } = decisions[decision]
  if (decision !== 'approve') return done
  return state === 'requested' ? `${done} and starts in a moment` : `${done} and already ${words(state)}`
}
