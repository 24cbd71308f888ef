import * as z from 'zod/mini'
import { subject } from '../../../../shared/api/callers.ts'
import { invalid } from '../../../../shared/api/refusal.ts'
import { reason } from '../../../../shared/api/schemas.ts'
import type { Services } from '../../../../shared/guard/services.ts'
import { callerNamed } from '../../../../shared/ledger/book/definitions.ts'
import { merged, seenIn } from '../../components/edit.tsx'
import { callerAddress, callersAddress, Trail } from '../../components/parts.tsx'
import { flashOf, isOvertaken, readFields, reasonOf, stepOf, untilAnswered } from '../../forms.ts'
import type { PageRoutes, Visit } from '../../session.tsx'
import { differences, type Texts, textsIn, toCaller } from './caller-texts.ts'
import { type CallerEdit, EditForm, EditPreview, textsNow, Unlisting } from './edit-form.tsx'

const unlisting = z.strictObject({
  form: z.string(),
  sub: subject,
  revision: z.string(),
  reason: z.exactOptional(reason),
})

/** What one caller may do: filled in, previewed, changed; listed or not until then. And taking them off the list. */
export function addCallerEditing({ page }: PageRoutes, { guard }: Services): void {
  page(`${callersAddress}/edit`, {
    GET: async (visit) => {
      visit.mustHave('admin')
      const sub = subject.safeParse(visit.c.req.query('sub')?.trim())
      if (!sub.success)
        return visit.tell({ done: [], failed: [`The name: it ${sub.error.issues[0]?.message}.`] }, callersAddress)
      const view = await guard.ledger.view()
      const asIs = { view, sub: sub.data, reason: undefined, meanwhile: null }
      return showForm(visit, { ...asIs, texts: textsNow(asIs) })
    },

    POST: async (visit) => {
      visit.mustHave('admin')
      const step = stepOf(visit.form)
      return untilAnswered(async () => {
        const wanted = await wantedOf(visit)
        return step === 'edit' ? showForm(visit, wanted) : change(visit, wanted, step)
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

  /** `null`: another user was faster, so that it has to be looked at again. */
  async function change(visit: Visit, wanted: CallerEdit, step: 'preview' | 'confirm') {
    const { sub, texts, view, meanwhile, reason } = wanted
    if (differences(textsNow(wanted), texts).length === 0) return nothingToDo(visit, wanted)
    if (sub === visit.session.sub && locksOut(texts)) return showForm(visit, wanted, [notYourself])
    const made = toCaller(sub, texts, callerNamed(view.definitions, sub) ?? {})
    if (made.kind === 'wrong') return showForm(visit, wanted, made.wrong)
    const by = {
      ...{ caller: visit.session.sub, onlyAt: [view.definitions.revision] },
      ...(reason !== undefined && { reason }),
    }
    // What others have changed is shown before anybody confirms it.
    const isSeen = step === 'confirm' && meanwhile === null
    const outcome = await (isSeen ? guard.putCaller(sub, made.caller, by) : guard.previewCaller(sub, made.caller, by))
    if (isOvertaken(outcome)) return null
    switch (outcome.kind) {
      case 'problem':
        return showForm(visit, wanted, [outcome.problem.detail])
      case 'changed':
        return visit.tell(
          { done: [`What ${sub} may do is changed, from the next request on.`], failed: [] },
          callersAddress,
        )
      case 'possible':
        return visit.show(`Change ${sub}?`, <EditPreview {...{ wanted, frame: visit.frame, after: outcome.after }} />)
    }
  }

  async function wantedOf({ form }: Visit): Promise<CallerEdit> {
    const sub = subject.safeParse(form.get('sub'))
    if (!sub.success) throw invalid([{ path: 'sub', message: sub.error.issues[0]?.message ?? '' }])
    const view = await guard.ledger.view()
    const now = textsNow({ view, sub: sub.data })
    const isSame = form.get('revision') === String(view.definitions.revision)
    const seen = isSame ? now : textsIn(seenIn(form), now)
    return {
      ...{ view, sub: sub.data, reason: reasonOf(form) },
      texts: merged(textsIn(form, seen), seen, now),
      meanwhile: isSame ? null : differences(seen, now),
    }
  }
}

export const notYourself = 'Somebody else has to disable you, or take admin from you: you could not undo it.'
const locksOut = ({ disabled, scopes }: Texts) => disabled === 'yes' || !scopes.split(' ').includes('admin')

function nothingToDo(visit: Visit, wanted: CallerEdit) {
  const { sub, meanwhile } = wanted
  // A user who presses twice reads that it is done; without a change they may continue.
  if (meanwhile === null) return showForm(visit, wanted, ['Nothing is different from what it is already.'])
  return visit.tell({ done: [`What ${sub} may do is as you want it already.`], failed: [] }, callersAddress)
}

function showForm(visit: Visit, wanted: CallerEdit, wrong: readonly string[] = []) {
  const { sub, view } = wanted
  const isListed = callerNamed(view.definitions, sub) !== undefined
  return visit.show(
    `What ${sub} may do`,
    <>
      <Trail label="Where this is" above={[['Callers', callersAddress]]} here={sub} />
      {isListed ? null : <p class="note">{sub} is not listed yet.</p>}
      <EditForm {...{ wanted, wrong, frame: visit.frame }} />
      {isListed && sub !== visit.session.sub ? <Unlisting of={wanted} frame={visit.frame} /> : null}
    </>,
  )
}
