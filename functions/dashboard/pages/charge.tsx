import * as z from 'zod/mini'
import { entryIdentity } from '../../../shared/api/entries.ts'
import { Refusal } from '../../../shared/api/refusal.ts'
import { reason } from '../../../shared/api/schemas.ts'
import { notEntered } from '../../../shared/guard/problems.ts'
import { count, units as inUnits } from '../../../shared/guard/sentences.ts'
import type { Book } from '../../../shared/ledger/book/book.ts'
import type { EntryPreview } from '../../../shared/ledger/book/enter.ts'
import type { View } from '../../../shared/ledger/book/view.ts'
import { budgetNamed } from '../../../shared/ledger/definitions/definitions.ts'
import { monthNamed } from '../../../shared/ledger/definitions/windows.ts'
import { payerOf, whyNotCorrected } from '../../../shared/ledger/updates/correctable.ts'
import type { Update } from '../../../shared/ledger/updates/update.ts'
import { systemIds } from '../../../shared/platform/ids.ts'
import { units } from '../../../shared/records/common-fields.ts'
import { numberSchema, step } from '../forms.ts'
import { ActionForm, action, ConfirmForm, fieldsOf } from '../kit/action.tsx'
import { ReasonField, TextField } from '../kit/fields.tsx'
import { chargeAddress, dayNamed, ProjectLink, Section, say, updateAddress } from '../kit/parts.tsx'
import type { PageRoutes, Visit } from '../kit/session.tsx'
import { EffectTable } from './budgets/effect.tsx'
import { updateIn } from './update.tsx'

const noKey = 'is missing: load the page again'
const formSchema = z.strictObject({
  step,
  /** Each key books at most one entry. */
  key: z.string(noKey).check(z.regex(/^page-[0-9a-z]{26}$/, noKey)),
  units: z.pipe(numberSchema, units),
  reason,
})

export function addCharge({ page }: PageRoutes): void {
  page('/dashboard/updates/:id/charge', {
    GET: async (visit) => {
      visit.mustHave('admin')
      const update = await updateIn(visit)
      const view = await visit.guard.ledger.view()
      const whyNot = whyNotCorrected(update, view)
      return visit.show(
        `Correct the charge of ${update.project}`,
        <>
          <Charge update={update} view={view} />
          {whyNot === null ? <CorrectionForm visit={visit} update={update} /> : <p>{whyNot}</p>}
        </>,
      )
    },

    POST: action({
      scopes: ['admin'],
      schema: formSchema,
      keeps: ['units', 'reason'],
      carries: ['key'],
      back: ({ c }) => chargeAddress(c.req.param('id') ?? ''),
      act: async (visit, { step, key, ...input }) => {
        if (step === 'edit') return { done: [], failed: [] }
        const { guard, session, redirect } = visit
        const update = await updateIn(visit)
        const view = await guard.ledger.view()
        const content = { type: 'correction', corrects: update.id, budget: payerOf(update, view), ...input } as const
        const request = { ...content, ...entryIdentity(session.sub, key, content), by: session.sub }
        const outcome = step === 'confirm' ? await guard.enter(request) : await guard.ledger.previewEntry(request)
        switch (outcome.kind) {
          case 'entered': {
            const booked = outcome.again
              ? 'This was already booked when you first sent it, so nothing more was booked.'
              : `Corrected: the update of ${update.project} is charged ${inUnits(input.units)}.`
            return { done: [booked], failed: [], to: updateAddress(update.id) }
          }
          case 'possible':
            return visit.show('Correct the charge?', <Preview {...outcome} visit={visit} update={update} view={view} />)
          case 'key-reused':
            return redirect({ done: [], failed: [bookedBefore] }, chargeAddress(update.id))
          default:
            throw new Refusal(notEntered(outcome))
        }
      },
    }),
  })
}

const bookedBefore = 'This form already booked another correction, so nothing more was booked now.'

const Charge = ({ update, view }: { update: Update; view: View }) => (
  <p>
    {say`${<a href={updateAddress(update.id)}>This {update.kind} update</a>} of ${<ProjectLink of={update} definitions={view.definitions} />} held ${inUnits(update.hold?.units ?? 0)} and was charged ${count(update.charged ?? 0)}.`}
  </p>
)

function CorrectionForm({ visit: { frame }, update }: { visit: Visit; update: Update }) {
  const field = fieldsOf(frame, 'charge')
  const key = frame.flash?.input?.key || `page-${systemIds.random()}`
  return (
    <Section id="charge" title="What it really cost">
      <ActionForm
        frame={frame}
        id="charge"
        action={chargeAddress(update.id)}
        cancel={updateAddress(update.id)}
        hidden={{ key }}
        buttons={[{ text: 'Preview', name: 'step', value: 'preview', tone: 'primary' }]}
        note="The difference is booked in the month of the update. A later answer of the service changes nothing."
      >
        <TextField {...field('units')} label="Units" isNumber isRequired />
        <ReasonField {...field('reason')} />
      </ActionForm>
    </Section>
  )
}

interface PreviewProps extends Extract<EntryPreview, { kind: 'possible' }> {
  readonly visit: Visit
  readonly update: Update
  readonly view: View
}

function Preview({ entry, before, after, visit: { form, frame }, update, view }: PreviewProps) {
  const { definitions, now, day } = view
  const difference = entry.units - (update.charged ?? 0)
  const isOver = (monthNamed(definitions.calendar, before.month)?.end ?? 0) <= now
  const month = `the month from ${dayNamed(before.month.slice('month:'.length))}`
  const isOfToday = before.day === day.name
  return (
    <>
      <Section id="what" title="What changes">
        <p>
          {`The charge goes from ${count(update.charged ?? 0)} to ${inUnits(entry.units)}, ${count(Math.abs(difference))} ${difference > 0 ? 'more' : 'fewer'}.`}
          {isOver ? ` It changes the statement of ${month}.` : null}
        </p>
        {entry.kept === undefined ? null : (
          <p class="note">
            The vendor’s last figure has this update, so account stays at the figure: it gets or loses no units.
          </p>
        )}
        <p>Reason: {entry.reason}</p>
      </Section>
      <EffectTable
        definitions={definitions}
        month={isOver ? `in ${month}` : undefined}
        before={isOfToday ? before : withoutDay(before)}
        after={isOfToday ? after : withoutDay(after)}
        budgets={(update.hold?.budgets ?? []).filter((name) => budgetNamed(definitions, name))}
      />
      <Section id="confirm" title="Confirm">
        <ConfirmForm
          frame={frame}
          action={chargeAddress(update.id)}
          back={updateAddress(update.id)}
          confirmLabel="Correct charge"
          hidden={{ key: form.get('key') ?? '', units: String(entry.units), reason: entry.reason }}
        />
      </Section>
    </>
  )
}

/** The day's counters of a past day say nothing about today. */
const withoutDay = (book: Book): Book => ({ ...book, counters: { ...book.counters, day: {} } })
