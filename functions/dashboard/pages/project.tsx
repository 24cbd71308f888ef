import { Refusal } from '../../../shared/api/refusal.ts'
import { problem } from '../../../shared/guard/problems.ts'
import { unownedPayer } from '../../../shared/guard/rules/projects.ts'
import { count, zoneOf } from '../../../shared/guard/sentences.ts'
import { budgetNamed, chainOf, type Definitions, rootBudget } from '../../../shared/ledger/definitions/definitions.ts'
import type { ProjectProfile } from '../../../shared/reports/profiles.ts'
import { reportsOf } from '../../../shared/reports/reports.ts'
import { SpentSection } from '../components/charts.tsx'
import { LastRun } from '../components/cost.tsx'
import { PlanName } from '../components/people.tsx'
import { LatestUpdates } from '../components/update-table.tsx'
import { Facts } from '../kit/facts.tsx'
import { List } from '../kit/list.tsx'
import { askAddress, BudgetLink, inboxPath, joined, projectAddress, Section, Units, ZoneNote } from '../kit/parts.tsx'
import type { PageRoutes } from '../kit/session.tsx'

export function addProject({ page }: PageRoutes): void {
  page('/dashboard/projects/:name', {
    GET: async ({ c, mustHave, show, guard, permissions: { scopes } }) => {
      mustHave('read')
      const asked = c.req.param('name') ?? ''
      const reports = await reportsOf(guard)
      const profile = await reports.projectProfile(asked)
      if (!profile)
        throw new Refusal(problem('not-found', `There is no project ${asked}: no budget and no update names it.`))
      const { name, view, callers } = profile
      if (name !== asked) return c.redirect(projectAddress(name), 303)
      return show(
        `Project ${name}`,
        <>
          {scopes.has('run') || scopes.has('propose') ? (
            <p class="buttons actions">
              <a class="button" href={askAddress({ project: name })}>
                Ask for an update
              </a>
            </p>
          ) : null}
          <OwnerSection {...profile} />
          <KindsSection {...profile} />
          <div class="halves">
            <LatestUpdates of={profile} about="project" />
            <SpentSection id="callers-spent" title="Spent by person and plan" spenders={callers} />
          </div>
          <ZoneNote zone={zoneOf(view)} />
        </>,
      )
    },
  })
}

function OwnerSection({ owner, id, name, spent, waiting, plans, next, view }: ProjectProfile) {
  const { definitions } = view
  const chain = owner === null ? [] : chainOf(definitions, owner)
  return (
    <Section id="owner" title="Summary" isHidden>
      {chain.length === 0 ? <p>{unlistedText(name, definitions)}</p> : null}
      {next === null ? null : <p>{next.sentence}</p>}
      <Facts
        rows={[
          chain.length > 0 && [
            'Paid by',
            joined(
              chain.map((budget) => <BudgetLink name={budget.name} />),
              ' › ',
            ),
          ],
          ['Id', id],
          ['Spent this month', <Units units={spent.now} />],
          ['Spent last month', <Units units={spent.before} />],
          waiting.length > 0 && ['Awaits a decision', <a href={inboxPath}>{count(waiting.length)}</a>],
          plans.length > 0 && ['Updated by', joined(plans.map((plan) => <PlanName name={plan.name} />))],
        ]}
      />
    </Section>
  )
}

/** A reader who does not see `account` sees only some budgets. */
const unlistedText = (name: string, definitions: Definitions): string =>
  budgetNamed(definitions, rootBudget)
    ? `No budget lists it: ${unownedPayer(definitions, [name])}.`
    : 'No budget that you read lists it.'

const KindsSection = ({ kinds, view }: ProjectProfile) => (
  <Section id="kinds" title="By kind">
    <List
      isInset
      class="dense"
      rows={kinds}
      columns={[
        { name: 'Kind', isHead: true, cell: ({ kind }) => kind },
        { name: 'Last run', cell: ({ last }) => <LastRun run={last} zone={zoneOf(view)} /> },
        { name: 'Spent this month', units: ({ spent }) => spent.now },
        { name: 'Spent last month', units: ({ spent }) => spent.before },
      ]}
    />
  </Section>
)
