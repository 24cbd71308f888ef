import * as z from 'zod/mini'
import { invalid } from '../../../../shared/api/refusal.ts'
import { reason, subject } from '../../../../shared/api/schemas.ts'
import { listedAs } from '../../../../shared/guard/people/callers.ts'
import { callerNamed, rootBudget, unlistedCallers } from '../../../../shared/ledger/book/definitions.ts'
import type { View } from '../../../../shared/ledger/views/views.ts'
import { isUnchanged, putOrPreview, readEdit, stalenessOf } from '../../components/edit.tsx'
import { HiddenFields, ReasonField } from '../../components/fields.tsx'
import { FormToken, type Frame } from '../../components/layout.tsx'
import { callerAddress, callersAddress, Sign, Trail } from '../../components/parts.tsx'
import type { FieldFaults } from '../../flash.ts'
import { asSentence, flashOf, isConflict, notDone, readFields, retryUntilAnswered, stepOf } from '../../forms.ts'
import type { PageRoutes, Visit } from '../../session.tsx'
import { allBudgets, isSlack, namesIn, shownCaller, type Texts, textsIn, textsOf, toCaller } from './caller-texts.ts'
import { type CallerEdit, CallerForm, CallerPreview } from './edit-form.tsx'

const removalSchema = z.strictObject({
  form: z.string(),
  sub: subject,
  revision: z.string(),
  reason: z.exactOptional(reason),
})

export function addCallerEdit({ page }: PageRoutes): void {
  page(`${callersAddress}/edit`, {
    GET: async (visit) => {
      visit.mustHave('admin')
      const sub = subject.safeParse(visit.query.get('sub')?.trim())
      if (!sub.success)
        return visit.redirect(
          {
            done: [],
            failed: [],
            faults: { sub: asSentence(sub.error.issues[0]?.message ?? '') },
            input: { sub: visit.query.get('sub') ?? '' },
          },
          `${callersAddress}#list`,
        )
      const view = await visit.guard.ledger.view()
      const current = textsNow(view, sub.data)
      return showForm(visit, { view, sub: sub.data, current, texts: current, reason: undefined, isStale: false })
    },

    POST: async (visit) => {
      visit.mustHave('admin')
      const step = stepOf(visit.form)
      return retryUntilAnswered(async () => {
        const sub = subject.safeParse(visit.form.get('sub'))
        if (!sub.success) throw invalid([{ path: 'sub', message: sub.error.issues[0]?.message ?? '' }])
        const view = await visit.guard.ledger.view()
        const edit = { ...readEdit(visit.form, view, textsNow(view, sub.data), textsIn), sub: sub.data }
        return step === 'edit' ? showForm(visit, edit) : previewOrChange(visit, edit, step)
      })
    },
  })

  page(`${callersAddress}/delete`, {
    POST: async ({ form, session, mustHave, redirect, guard }) => {
      mustHave('admin')
      const { sub, revision, reason } = readFields(form, removalSchema)
      if (sub === session.sub) return redirect({ done: [], failed: [notYourself] }, callersAddress)
      const by = { caller: session.sub, ...(reason !== undefined && { reason }), onlyAt: [Number(revision)] }
      const result = await guard.deleteCaller(sub, by)
      const to = result.kind === 'changed' ? callersAddress : callerAddress(sub)
      return redirect(
        flashOf(result, sub === unlistedCallers ? 'The rules are removed.' : `${sub} is removed from the list.`),
        to,
      )
    },
  })
}

const textsNow = (view: View, sub: string): Texts => textsOf(sub, listedAs(view.definitions, sub) ?? {})

/** `null`: another change was faster. */
async function previewOrChange(visit: Visit, edit: CallerEdit, step: 'preview' | 'confirm') {
  const { sub, texts, view, isStale } = edit
  const finish = (sentence: string) => visit.redirect({ done: [sentence], failed: [] }, callersAddress)
  if (isUnchanged(edit)) {
    // The user pressed the button twice.
    if (!isStale) return showForm(visit, edit, ['Nothing has changed.'])
    return finish(`The permissions of ${shownCaller(sub)} are already as you want them.`)
  }
  if (isStale) return showForm(visit, edit)
  if (sub === visit.session.sub && locksOutSelf(texts)) return showForm(visit, edit, [notYourself])
  const parsed = toCaller(sub, texts, listedAs(view.definitions, sub) ?? {})
  if (parsed.kind === 'invalid') return showForm(visit, edit, [notDone], parsed.faults)
  const outcome = await putOrPreview(step, edit, visit.session.sub, {
    put: (by) => visit.guard.putCaller(sub, parsed.caller, by),
    preview: (by) => visit.guard.previewCaller(sub, parsed.caller, by),
  })
  if (isConflict(outcome)) return null
  switch (outcome.kind) {
    case 'problem':
      return showForm(visit, edit, [outcome.problem.detail])
    case 'changed':
      return finish(`The permissions of ${shownCaller(sub)} are changed from the next request on.`)
    case 'possible':
      return visit.show(
        `Change ${shownCaller(sub)}?`,
        <CallerPreview {...{ edit, frame: visit.frame, after: outcome.after }} />,
      )
  }
}

export const notYourself =
  'Someone else has to disable you, remove your scope admin or narrow what you read: you could not undo it.'
const locksOutSelf = ({ disabled, scopes, readsBudgets }: Texts) =>
  disabled === 'yes' ||
  !scopes.split(' ').includes('admin') ||
  // Who reads only some budgets is no administrator.
  ![allBudgets, rootBudget].some((all) => namesIn(readsBudgets).includes(all))

async function showForm(visit: Visit, edit: CallerEdit, faults: readonly string[] = [], fieldFaults: FieldFaults = {}) {
  const { sub, view } = edit
  const stale = await stalenessOf(visit.guard, edit, { kind: 'caller', name: sub, budget: rootBudget })
  const isListed = listedAs(view.definitions, sub) !== undefined
  const name = shownCaller(sub)
  return visit.show(
    sub === unlistedCallers ? 'Rules for callers that are not listed' : `What ${sub} may do`,
    <>
      <Trail label="Where this is" above={[['Callers', callersAddress]]} here={name} />
      {isListed || sub === unlistedCallers ? null : <p class="note">{sub} is not listed yet.</p>}
      <CallerForm {...{ edit, faults: [...stale, ...faults], fieldFaults, frame: visit.frame }} />
      {isListed && sub !== visit.session.sub ? <RemovalForm edit={edit} frame={visit.frame} /> : null}
    </>,
  )
}

function afterRemoval(sub: string): string {
  if (sub === unlistedCallers) return 'Callers that are not listed then have no limits of their own.'
  return isSlack(sub) ? 'This user may then do nothing in Slack.' : 'Their token alone then says what they may do.'
}

const RemovalForm = ({ edit: { sub, view }, frame }: { edit: CallerEdit; frame: Frame }) => (
  <details class="card">
    <summary>{sub === unlistedCallers ? 'Remove these rules' : `Remove ${sub} from the list`}</summary>
    <p class="note">{afterRemoval(sub)}</p>
    {callerNamed(view.definitions, sub)?.disabled ? (
      <p class="warning">
        <Sign name="warning" /> This caller is disabled. Removing it from the list enables it:{' '}
        {isSlack(sub) ? 'listing the user again gives access.' : 'its tokens work again.'}
      </p>
    ) : null}
    <form method="post" action={`${callersAddress}/delete`}>
      <FormToken frame={frame} />
      <HiddenFields values={{ sub, revision: String(view.definitions.revision) }} />
      <ReasonField formId="delete" isOptional />
      <p class="buttons">
        <button type="submit">Remove {sub === unlistedCallers ? 'rules' : sub}</button>
      </p>
    </form>
  </details>
)
