import { describe } from '../../../shared/guard/problem-types.ts'
import { ruleSlugs } from '../../../shared/guard/rules/recorded.ts'
import { count, shownIn, units, zoneOf } from '../../../shared/guard/sentences.ts'
import type { Repeated } from '../../../shared/guard/update/repeating-callers.ts'
import type { View } from '../../../shared/ledger/book/view.ts'
import { isTerminal, type Update } from '../../../shared/ledger/updates/update.ts'
import { type Profile, searched } from '../../../shared/reports/profiles.ts'
import { addressWith, List } from '../kit/list.tsx'
import { BudgetLink, ProjectLink, RecentTime, Section, StateLink, say, Time } from '../kit/parts.tsx'
import { CallerName, inView } from './people.tsx'

const addressOfEach = (
  { caller, project, kind }: Update,
  filters: Readonly<Record<string, string | undefined>>,
): string =>
  addressWith('/dashboard/updates', { ...filters, search: undefined, state: 'refused', caller, project, kind })

interface TableProps extends Pick<Parameters<typeof List<Repeated>>[0], 'rows' | 'page' | 'empty'> {
  readonly view: View
  readonly filters: Readonly<Record<string, string | undefined>>
}

const timesOf = ({ update: { createdAt: at }, count, since }: Repeated, view: View) => {
  if (count === 1) return <RecentTime at={at} view={view} />
  return [since, at].map((each, index) => [index > 0 && ' – ', <Time at={each} zone={zoneOf(view)} />])
}

export function UpdateTable({ view, filters, ...list }: TableProps) {
  return (
    <List
      {...list}
      class="two-lines updates"
      label="Updates, newest first"
      columns={[
        { name: 'Asked for', cell: (row) => timesOf(row, view) },
        {
          name: 'Project',
          isHead: true,
          cell: ({ update }) => <ProjectLink of={update} definitions={view.definitions} />,
          note: ({ update }) => update.kind,
        },
        {
          name: 'State',
          cell: ({ update }) => <StateLink update={update} />,
          note: ({ update, count: times }) =>
            times > 1 && [`${count(times)} times: `, <a href={addressOfEach(update, filters)}>show all</a>],
        },
        { name: 'Estimated', units: ({ update }) => update.estimated },
        { name: 'Charged', units: ({ update: { charged, state } }) => charged ?? (isTerminal(state) ? 0 : null) },
        { name: 'Budget', cell: ({ update }) => <BudgetLink name={update.budget} /> },
        { name: 'By', cell: ({ update }) => <CallerName update={update} definitions={view.definitions} /> },
        { name: 'Reason', cell: ({ update }) => reasonText(update, view) },
      ]}
    />
  )
}

interface LinesProps {
  readonly updates: readonly Update[]
  readonly view: View
  /** The lines do not repeat the project or person of the page. */
  readonly about?: 'project' | 'person'
}

export const UpdateLines = ({ updates, view, about }: LinesProps) => (
  <ul class="lines">
    {updates.map((update) => {
      const cost = update.charged ?? update.estimated
      const { ago, who } = inView(view)
      return (
        <li>
          {about === 'project' ? update.kind : <ProjectLink of={update} definitions={view.definitions} />}{' '}
          <StateLink update={update} /> {cost ? units(cost) : null}{' '}
          <span class="note">
            {ago(update.createdAt)}
            {about !== 'person' && say` by ${who(update.caller, update)}`}
          </span>
        </li>
      )
    })}
  </ul>
)

export const LatestUpdates = ({ of, about }: { of: Profile; about: 'project' | 'person' }) => (
  <Section id="updates" title={about === 'person' ? 'Asked lately' : 'Latest updates'}>
    {of.latest.length === 0 ? (
      <p class="empty">{`None among the newest ${searched.count} updates of the last ${searched.days} days.`}</p>
    ) : (
      <UpdateLines updates={of.latest} view={of.view} about={about} />
    )}
    <p class="buttons">
      {of.names.map((name) => (
        <a href={addressWith('/dashboard/updates', { [about === 'person' ? 'caller' : about]: name, window: 'all' })}>
          All updates of {name}
        </a>
      ))}
    </p>
  </Section>
)

export function reasonText(update: Update, { definitions }: Pick<View, 'definitions'>): string {
  const { state, problem, history, reason = '' } = update
  if (problem) return detailed.includes(problem.slug) ? firstClause(problem.detail) : describe(problem.slug).title
  const line = history.findLast((each) => each.state === state)
  switch (state) {
    case 'awaiting-approval':
    case 'in-doubt':
    case 'released':
    case 'expired':
      return line?.note ?? reason
    case 'rejected':
    case 'cancelled':
      return `by ${shownIn(definitions, update, line?.by ?? '')}${line?.note === undefined ? '' : `: ${line.note}`}`
    default:
      return reason
  }
}

/** The details of these problems hold numbers. For other problems the title is enough. */
const detailed: readonly string[] = ['over-budget', ...ruleSlugs, 'over-max-units', 'project-unowned', 'plan-paused']

/** A detail begins with the fault; the advice follows. */
const firstClause = (detail: string): string => detail.split(/; |\. /)[0]?.replace(/\.$/, '') ?? detail
