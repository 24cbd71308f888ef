import { isRefusal, isUnsent } from '../../../shared/guard/plans/attempts.ts'
import type { OccurrenceReport } from '../../../shared/guard/plans/occurrences.ts'
import { occurrenceInWords } from '../../../shared/guard/plans/plan-words.ts'
import type { PlanStatus } from '../../../shared/guard/plans/statuses.ts'
import type { Occurrence, Rerun } from '../../../shared/guard/plans/stored-occurrence.ts'
import type { PriceOf } from '../../../shared/guard/plans/stored-price.ts'
import { count, countOf, units, zoneOf } from '../../../shared/guard/sentences.ts'
import type { View } from '../../../shared/ledger/book/view.ts'
import { type Update, wasUpToDate } from '../../../shared/ledger/updates/update.ts'
import { toRfc3339 } from '../../../shared/platform/clock.ts'
import { Who } from '../components/people.tsx'
import { CostText } from '../components/plan-status.tsx'
import { ActionForm } from '../kit/action.tsx'
import { FoldedSection } from '../kit/fold.tsx'
import { List } from '../kit/list.tsx'
import { ProjectLink, planAddress, Section, StateLink, Time, updateAddress } from '../kit/parts.tsx'
import type { Visit } from '../kit/session.tsx'

/** More names than this are a number with a fold. */
const maxNames = 5

const Folded = ({ title, names, view }: { title: string; names: readonly string[]; view: View }) => (
  <details>
    <summary>{title}</summary>
    <ul class="projects">
      {names.map((project) => (
        <li>
          <ProjectLink of={{ project }} definitions={view.definitions} />
        </li>
      ))}
    </ul>
  </details>
)

export function OccurrenceOutcome({ report, view }: { report: OccurrenceReport; view: View }) {
  const zone = zoneOf(view)
  const { occurrence, counts, unitsCharged, rows } = report
  const unsent = rows.flatMap(({ project, update }) => (update ? [] : project))
  const isFolded = unsent.length > maxNames
  const shown = isFolded ? rows.filter(({ update }) => update) : rows
  return (
    <Section id="became" title={['Run of ', <Time at={occurrence.time} zone={zone} />]}>
      <p>
        {occurrenceInWords({ ...occurrence, counts, charged: 0 })}; {units(unitsCharged)} charged.
        {occurrence.doneAt === undefined
          ? [' It continues at ', <Time at={occurrence.nextAt} zone={zone} />, '.']
          : null}
      </p>
      {shown.length === 0 ? null : (
        <List
          isInset
          columns={[
            {
              name: 'Project',
              isHead: true,
              cell: ({ project }) => <ProjectLink of={{ project }} definitions={view.definitions} />,
            },
            { name: 'State', cell: ({ update }) => (update ? <UpdateOutcome update={update} /> : 'not sent') },
            { name: 'Charged', units: ({ update }) => update?.charged },
          ]}
          rows={shown}
        />
      )}
      {isFolded ? <Folded title={`${count(unsent.length)} projects not sent`} names={unsent} view={view} /> : null}
    </Section>
  )
}

function UpdateOutcome({ update }: { update: Update }) {
  if (wasUpToDate(update)) return <a href={updateAddress(update.id)}>up to date</a>
  return (
    <>
      <StateLink update={update} />
      {update.problem ? <span class="note">{update.problem.detail}</span> : null}
    </>
  )
}

export interface RunProps {
  readonly visit: Visit
  readonly status: PlanStatus
}

/** Excludes readers of only some budgets, who would run projects that they do not see. */
const mayRunPlans = ({ scopes, readsBudgets }: Visit['permissions']): boolean =>
  scopes.has('run') && readsBudgets === '*'

/** Lists the projects of an occurrence that can be run again. */
const repeatsOf = ({ plan }: PlanStatus, { occurrence, rows }: OccurrenceReport) =>
  (occurrence.doneAt === undefined || !plan.enabled ? [] : repeats).flatMap(({ isIncluded, ...repeat }) => {
    const projects = rows.filter(({ update }) => isIncluded(update)).map(({ project }) => project)
    return projects.length === 0 ? [] : [{ ...repeat, projects }]
  })

interface RunAgainProps extends RunProps {
  readonly report: OccurrenceReport
  readonly priceOf: PriceOf
}

export function RunAgainForms({ visit, status, report, priceOf }: RunAgainProps) {
  const { permissions, frame } = visit
  const { plan, paused } = status
  const mayRun = !paused && mayRunPlans(permissions)
  return (
    <>
      {repeatsOf(status, report).map(({ only, title, outcome, consequence, projects }, position) => (
        <FoldedSection id={only} title={title} isOpen={position === 0}>
          <p>
            {outcome(projects.length)}
            {projects.length > maxNames ? '' : `: ${projects.join(', ')}`}. Cost at the last prices:{' '}
            <CostText {...costAt(priceOf, plan, projects)} />.
          </p>
          {paused ? <p class="note">Resume the plan first.</p> : null}
          {mayRun ? (
            <ActionForm
              frame={frame}
              id={only}
              action={`${planAddress(plan.name)}/${only}`}
              hidden={{ time: toRfc3339(report.occurrence.time), version: String(report.occurrence.version) }}
              buttons={[{ text: title, tone: 'primary' }]}
            >
              <p class="tick whole">
                <input type="checkbox" id={`confirm-${only}`} name="confirm" value="yes" required />
                <label for={`confirm-${only}`}>
                  Run {projects.length === 1 ? 'it' : 'them'} within five minutes: {consequence}
                </label>
              </p>
            </ActionForm>
          ) : null}
        </FoldedSection>
      ))}
    </>
  )
}

function costAt(priceOf: PriceOf, { kind }: PlanStatus['plan'], projects: readonly string[]) {
  const prices = projects.flatMap((project) => priceOf(kind, project) ?? [])
  return { units: prices.reduce((sum, price) => sum + price.units, 0), unpriced: projects.length - prices.length }
}

export const subjects = { unsent: 'The unsent projects', refused: 'The refused projects' } as const

export function WaitingRerun({ rerun: { only, by, time, createdAt }, view }: { rerun: Rerun; view: View }) {
  const zone = zoneOf(view)
  return (
    <p class="note">
      {subjects[only]} of <Time at={time} zone={zone} /> run with the next sweep, within five minutes.{' '}
      <Who name={by} definitions={view.definitions} /> asked for this at <Time at={createdAt} zone={zone} />.
    </p>
  )
}

const repeats = [
  {
    only: 'unsent',
    title: 'Run what was not sent',
    isIncluded: isUnsent,
    outcome: (number: number) => `${countOf(number, 'project')} never started, expired or provably did not run`,
    consequence: 'this spends units, as far as budgets allow',
  },
  {
    only: 'refused',
    title: 'Run what was refused',
    isIncluded: isRefusal,
    outcome: (number: number) => `${countOf(number, 'project')} ${number === 1 ? 'was' : 'were'} refused`,
    consequence: 'each is decided again with the present budgets and limits',
  },
] as const

interface OccurrencesProps {
  readonly occurrences: readonly Occurrence[]
  readonly plan: string
  readonly zone: string
}

export const Occurrences = ({ occurrences, plan, zone }: OccurrencesProps) => (
  <Section id="occurrences" title="Recent runs">
    {occurrences.length === 0 ? (
      <p class="empty">
        It has not run yet. <code>npm run plan -- {plan}</code> starts it now.
      </p>
    ) : (
      <ul class="lines">
        {occurrences.map((each) => (
          <li>
            <a href={`${planAddress(plan)}?time=${encodeURIComponent(toRfc3339(each.time))}`}>
              <Time at={each.time} zone={zone} />
            </a>{' '}
            {occurrenceInWords(each)}
          </li>
        ))}
      </ul>
    )}
    <p>
      <a href={`/dashboard/updates?plan=${encodeURIComponent(plan)}`}>All updates of this plan</a>
    </p>
  </Section>
)
