import { isLastDay, type MonthToClose } from '../../../../shared/guard/inbox/close-month.ts'
import { few, units as inUnits, when, zoneOf } from '../../../../shared/guard/sentences.ts'
import type { Entry } from '../../../../shared/ledger/book/entry.ts'
import type { View } from '../../../../shared/ledger/book/view.ts'
import { rootBudget } from '../../../../shared/ledger/definitions/definitions.ts'
import type { Window } from '../../../../shared/ledger/definitions/windows.ts'
import { systemIds } from '../../../../shared/platform/ids.ts'
import { DoubtFields } from '../../components/doubts.tsx'
import { shortLabel } from '../../components/period.tsx'
import { UpdateLines } from '../../components/update-table.tsx'
import { ActionForm, fieldsOf } from '../../kit/action.tsx'
import { ReasonField, TextField } from '../../kit/fields.tsx'
import { budgetAddress, closePath, inboxPath, Section, say, Time, Warning, ZoneNote } from '../../kit/parts.tsx'
import type { PageRoutes, Visit } from '../../kit/session.tsx'

/** Doubts, the vendor's figure, what keeps the month from final, and the statement, in this order. */
export function addCloseMonth({ page }: PageRoutes): void {
  page(closePath, {
    GET: async (visit) => {
      visit.mustHave('read')
      visit.mustReadAll()
      const state = await visit.guard.monthToClose()
      const { view, month, before } = state
      const zone = zoneOf(view)
      const hadLedger = before.month.end > view.definitions.createdAt
      return visit.show(
        'Close a month',
        <>
          <p>
            {shortLabel(month, zone)} ends on <Time at={month.end} zone={zone} />.{' '}
            {isLastDay(view)
              ? 'Do this as late today as you can: a figure that is read before the end cannot say what the vendor counts after it.'
              : 'The steps below are for its last day.'}
          </p>
          <Section id="doubts" title="1. Doubts">
            <Doubts state={state} />
          </Section>
          <Section id="reconcile" title="2. The vendor’s figure">
            <FigureSentence figure={state.figure} month={month} view={view} />
            <FigureForm state={state} visit={visit} />
          </Section>
          <Section id="final" title="3. What keeps it from final">
            <p>
              {state.open.length === 0
                ? say`Only its end on ${<Time at={month.end} zone={zone} />}: no update runs or is in doubt.`
                : say`Its end on ${<Time at={month.end} zone={zone} />}, and the updates of step 1.`}
            </p>
          </Section>
          <Section id="statement" title="4. The statement">
            <p>
              <a href={statementAddress(month)}>Statement of {shortLabel(month, zone)}</a>
            </p>
          </Section>
          {hadLedger ? <Before before={before} view={view} /> : null}
          <ZoneNote zone={zone} />
        </>,
      )
    },
  })
}

const statementAddress = ({ name }: Window): string => `/dashboard/statements?window=${name}`

const Doubts = ({ state: { open, old, view } }: { state: MonthToClose }) =>
  open.length === 0 ? (
    <p class="empty">No update of this month runs or is in doubt.</p>
  ) : (
    <>
      <p>
        {old.length === 0
          ? 'These updates run or are in doubt.'
          : 'These updates run or are in doubt. The vendor’s figure has the older doubts, so step 2 asks whether they ran.'}{' '}
        <a href={inboxPath}>Decide in the inbox</a>
      </p>
      <UpdateLines updates={open} view={view} />
    </>
  )

/** Names the moment of the figure, because the vendor may have counted more after it. */
function FigureSentence({ figure, month, view }: { figure: Entry | null; month: Window; view: View }) {
  const zone = zoneOf(view)
  if (!figure) return <p>No figure of the vendor was booked for {shortLabel(month, zone)}.</p>
  const { asOf, at, units } = figure
  const effect =
    units === 0 ? 'the book agreed' : `${inUnits(Math.abs(units))} ${units > 0 ? 'were used outside' : 'came back'}`
  return (
    <p>
      The last figure is of {when(asOf ?? at, zone)}: {effect}. What the vendor counted outside later is not in it.
    </p>
  )
}

function FigureForm({ state, visit }: { state: MonthToClose; visit: Visit }) {
  const { view, until, old, open } = state
  const { frame, permissions } = visit
  if (until !== null) {
    const young = open.filter(({ id }) => !old.some((each) => each.id === id)).map(({ id }) => id)
    return (
      <Warning>
        A figure of now may lack {few(young)}. Reconcile after {when(until, zoneOf(view))}, with the figure of then.
      </Warning>
    )
  }
  if (!permissions.scopes.has('admin')) return <p class="note">An administrator books the figure.</p>
  const input = frame.flash?.input ?? {}
  const field = fieldsOf(frame, 'close')
  const key = input.key || `page-${systemIds.random()}`
  const hidden = { type: 'reconcile', closing: 'yes', key, month: view.month.name, day: view.day.name }
  return (
    <ActionForm
      frame={frame}
      id="close"
      action={budgetAddress(rootBudget, '/book')}
      hidden={hidden}
      buttons={[{ text: 'Preview', name: 'step', value: 'preview', tone: 'primary' }]}
      note="Enter the units that the vendor’s screen shows as left now. Nothing is booked before you have seen the difference."
    >
      <TextField {...field('unitsLeft')} label="Units left at the vendor" isNumber isRequired />
      <DoubtFields doubts={old} formId="close" input={input} faults={frame.flash?.faults} />
      <ReasonField {...field('reason')} />
    </ActionForm>
  )
}

function Before({ before: { month, open, figure }, view }: { before: MonthToClose['before']; view: View }) {
  const label = shortLabel(month, zoneOf(view))
  return (
    <Section id="before" title={`The month before: ${label}`}>
      <FigureSentence figure={figure} month={month} view={view} />
      <p>
        {open.length === 0
          ? 'It is final: nothing is held or in doubt.'
          : 'It is not final until these updates end. They are charged in their own month and change nothing in this one.'}{' '}
        <a href={statementAddress(month)}>Statement of {label}</a>
      </p>
      <UpdateLines updates={open} view={view} />
    </Section>
  )
}
