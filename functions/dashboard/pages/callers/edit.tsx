import * as z from 'zod/mini'
import { subject } from '../../../../shared/api/callers.ts'
import { invalid } from '../../../../shared/api/refusal.ts'
import { reason } from '../../../../shared/api/schemas.ts'
import type { Guard } from '../../../../shared/guard/guard.ts'
import type { Services } from '../../../../shared/guard/services.ts'
import { callerNamed } from '../../../../shared/ledger/book/definitions.ts'
import type { View } from '../../../../shared/ledger/views/views.ts'
import { isUnchanged, putOrPreview, readEdit } from '../../components/edit.tsx'
import { HiddenFields, ReasonField } from '../../components/fields.tsx'
import { FormToken, type Frame } from '../../components/layout.tsx'
import { callerAddress, callersAddress, Trail } from '../../components/parts.tsx'
import { flashOf, isOvertaken, readFields, stepOf, untilAnswered } from '../../forms.ts'
import type { PageRoutes, Visit } from '../../session.tsx'
import { differences, isSlack, type Texts, textsIn, textsOf, toCaller } from './caller-texts.ts'
import { type CallerEdit, CallerForm, CallerPreview } from './edit-form.tsx'

const unlisting = z.strictObject({
  form: z.string(),
  sub: subject,
  revision: z.string(),
  reason: z.exactOptional(reason),
})

/** Changes what a caller may do, whether they are listed or not, and takes callers off the list. */
export function addCallerEdit({ page }: PageRoutes, { guard }: Services): void {
  page(`${callersAddress}/edit`, {
    GET: async (visit) => {
      visit.mustHave('admin')
      const sub = subject.safeParse(visit.query.get('sub')?.trim())
      if (!sub.success)
        return visit.tell({ done: [], failed: [`The name: it ${sub.error.issues[0]?.message}.`] }, callersAddress)
      const view = await guard.ledger.view()
      const now = textsNow(view, sub.data)
      return showForm(visit, { view, sub: sub.data, now, texts: now, reason: undefined, othersChanges: null })
    },

    POST: async (visit) => {
      visit.mustHave('admin')
      const step = stepOf(visit.form)
      return untilAnswered(async () => {
        const sub = subject.safeParse(visit.form.get('sub'))
        if (!sub.success) throw invalid([{ path: 'sub', message: sub.error.issues[0]?.message ?? '' }])
        const view = await guard.ledger.view()
        const edit = readEdit(visit.form, view, textsNow(view, sub.data), { textsIn, differences })
        const wanted = { ...edit, sub: sub.data }
        return step === 'edit' ? showForm(visit, wanted) : change(guard, visit, wanted, step)
      })
    },
  })

  page(`${callersAddress}/delete`, {
    POST: async ({ form, session, mustHave, tell }) => {
      mustHave('admin')
      const { sub, revision, reason } = readFields(form, unlisting)
      if (sub === session.sub) return tell({ done: [], failed: [notYourself] }, callersAddress)
      const by = { caller: session.sub, ...(reason !== undefined && { reason }), onlyAt: [Number(revision)] }
      const changed = await guard.deleteCaller(sub, by)
      const to = changed.kind === 'changed' ? callersAddress : callerAddress(sub)
      return tell(flashOf(changed, `${sub} is not listed any more.`), to)
    },
  })
}

const textsNow = (view: View, sub: string): Texts => textsOf(sub, callerNamed(view.definitions, sub) ?? {})

/** `null`: another change was faster. */
async function change(guard: Guard, visit: Visit, wanted: CallerEdit, step: 'preview' | 'confirm') {
  const { sub, texts, view, othersChanges } = wanted
  const tell = (sentence: string) => visit.tell({ done: [sentence], failed: [] }, callersAddress)
  if (isUnchanged(wanted)) {
    // Without changes of others, the user may continue; with them, this is the second press of a button.
    if (othersChanges === null) return showForm(visit, wanted, ['Nothing is different from what it is already.'])
    return tell(`What ${sub} may do is as you want it already.`)
  }
  if (sub === visit.session.sub && locksOut(texts)) return showForm(visit, wanted, [notYourself])
  const made = toCaller(sub, texts, callerNamed(view.definitions, sub) ?? {})
  if (made.kind === 'wrong') return showForm(visit, wanted, made.wrong)
  const outcome = await putOrPreview(step, wanted, visit.session.sub, {
    put: (by) => guard.putCaller(sub, made.caller, by),
    preview: (by) => guard.previewCaller(sub, made.caller, by),
  })
  if (isOvertaken(outcome)) return null
  switch (outcome.kind) {
    case 'problem':
      return showForm(visit, wanted, [outcome.problem.detail])
    case 'changed':
      return tell(`What ${sub} may do is changed, from the next request on.`)
    case 'possible':
      return visit.show(`Change ${sub}?`, <CallerPreview {...{ wanted, frame: visit.frame, after: outcome.after }} />)
  }
}

export const notYourself = 'Somebody else has to disable you, or take admin from you: you could not undo it.'
const locksOut = ({ disabled, scopes }: Texts) => disabled === 'yes' || !scopes.split(' ').includes('admin')

function showForm(visit: Visit, wanted: CallerEdit, wrong: readonly string[] = []) {
  const { sub, view } = wanted
  const isListed = callerNamed(view.definitions, sub) !== undefined
  return visit.show(
    `What ${sub} may do`,
    <>
      <Trail label="Where this is" above={[['Callers', callersAddress]]} here={sub} />
      {isListed ? null : <p class="note">{sub} is not listed yet.</p>}
      <CallerForm {...{ wanted, wrong, frame: visit.frame }} />
      {isListed && sub !== visit.session.sub ? <Unlisting of={wanted} frame={visit.frame} /> : null}
    </>,
  )
}

const Unlisting = ({ of: { sub, view }, frame }: { of: CallerEdit; frame: Frame }) => (
  <details class="card">
    <summary>Take {sub} off the list</summary>
    <p class="note">
      {isSlack(sub)
        ? 'They may do nothing in Slack then.'
        : 'Their token alone says what they may do then: nothing that is set here narrows it any more.'}
    </p>
    {callerNamed(view.definitions, sub)?.disabled ? (
      <p class="warning">
        <span aria-hidden="true">⚠</span> They are disabled now. Off the list they are not:{' '}
        {isSlack(sub) ? 'whoever lists them again lets them in.' : 'a token of theirs works again.'}
      </p>
    ) : null}
    <form method="post" action={`${callersAddress}/delete`}>
      <FormToken frame={frame} />
      <HiddenFields values={{ sub, revision: String(view.definitions.revision) }} />
      <ReasonField formId="delete" isOptional />
      <p class="buttons">
        <button type="submit">Take {sub} off the list</button>
      </p>
    </form>
  </details>
)
