import type { Child } from 'hono/jsx'
import { Refusal } from '../../../../shared/api/refusal.ts'
import { decisions } from '../../../../shared/guard/people/decisions.ts'
import { problem } from '../../../../shared/guard/problems.ts'
import { count, ownLimitsLeft, percent, zoneOf } from '../../../../shared/guard/sentences.ts'
import { spentOnTops } from '../../../../shared/ledger/book/book.ts'
import { callerNamed, topsOf } from '../../../../shared/ledger/definitions/definitions.ts'
import type { PersonProfile } from '../../../../shared/reports/profiles.ts'
import { reportsOf } from '../../../../shared/reports/reports.ts'
import { SpentSection } from '../../components/charts.tsx'
import { AfterApproval } from '../../components/decide.tsx'
import { inView } from '../../components/people.tsx'
import { LatestUpdates } from '../../components/update-table.tsx'
import { Facts } from '../../kit/facts.tsx'
import {
  BudgetLink,
  inboxPath,
  ProjectLink,
  personAddress,
  Section,
  say,
  Units,
  updateAddress,
  words,
  ZoneNote,
} from '../../kit/parts.tsx'
import type { PageRoutes, Visit } from '../../kit/session.tsx'
import { CallerItem, mayFacts } from './callers.tsx'

export function addPerson({ page }: PageRoutes): void {
  page('/dashboard/people/:name', {
    GET: async (visit) => {
      visit.mustHave('read')
      const asked = visit.c.req.param('name') ?? ''
      const reports = await reportsOf(visit.guard)
      const profile = await reports.personProfile(asked)
      if (!profile) throw new Refusal(problem('not-found', `There is no person ${asked}, and no caller of that name.`))
      if (profile.name !== asked) return visit.c.redirect(personAddress(profile.name), 303)
      return visit.show(
        profile.name,
        <>
          <FiguresSection {...profile} />
          <NamesSection profile={profile} visit={visit} />
          <div class="halves">
            <SpentSection id="projects-spent" title="Spent by project" spenders={profile.projects} />
            <SpentSection id="budgets-spent" title="Spent by budget" spenders={profile.budgets} />
          </div>
          <div class="halves">
            <LatestUpdates of={profile} about="person" />
            <DecidedSection {...profile} />
          </div>
          <ZoneNote zone={zoneOf(profile.view)} />
        </>,
      )
    },
  })
}

function FiguresSection({ view, spent, waiting, toDecide }: PersonProfile) {
  const all = spentOnTops(view.book, topsOf(view.definitions))
  const inState = (state: string) => waiting.filter((update) => update.state === state).length
  return (
    <Section id="figures" title="This month">
      <Facts
        rows={[
          [
            'Spent',
            [<Units units={spent.now} />, all > 0 && <span class="note"> {percent(spent.now, all)} of all</span>],
          ],
          ['Spent last month', <Units units={spent.before} />],
          ['Asked, awaits approval', count(inState('awaiting-approval'))],
          ['Asked, in doubt', count(inState('in-doubt'))],
          toDecide.length > 0 && ['Waits for their decision', <a href={inboxPath}>{count(toDecide.length)}</a>],
        ]}
      />
    </Section>
  )
}

function DecidedSection({ decided, entries, view }: PersonProfile) {
  const { ago } = inView(view)
  const lines: readonly (readonly [at: number, what: Child])[] = [
    ...decided.map(
      ({ update, what, at }) =>
        [
          at,
          say`${<a href={updateAddress(update.id)}>{decisions[what].done}</a>}: ${<ProjectLink of={update} definitions={view.definitions} />}${<AfterApproval what={what} update={update} />}`,
        ] as const,
    ),
    ...entries.map(
      ({ type, budget, at, reason }) =>
        [at, say`${words(type)}, ${<BudgetLink name={budget} unseen="another budget" />}: ${reason}`] as const,
    ),
  ]
  return (
    <Section id="decided" title="Decided lately">
      {lines.length === 0 ? <p class="empty">Nothing was decided, booked or changed lately.</p> : null}
      <ul class="lines">
        {lines
          .toSorted(([one], [other]) => other - one)
          .map(([at, what]) => (
            <li>
              {what} <span class="note">{ago(at)}</span>
            </li>
          ))}
      </ul>
    </Section>
  )
}

/** Only administrators see what other callers may do. */
function NamesSection({ profile: { names, next, view }, visit }: { profile: PersonProfile; visit: Visit }) {
  const { isAdmin, caller, scopes, readsBudgets, mayCharge } = visit.permissions
  const budgets = Object.keys(view.definitions.budgets).filter(mayCharge)
  const own = { scopes: [...scopes], budgets, ...(readsBudgets !== '*' && { readsBudgets }) }
  return (
    <Section id="names" title={names.length === 1 ? 'Name' : `Names (${names.length})`}>
      <ul class="waiting-list">
        {names.map((name) => {
          const listed = callerNamed(view.definitions, name)
          const isSelf = name === caller
          const isSeen = isAdmin || isSelf
          return (
            <CallerItem
              sub={name}
              isDisabled={isAdmin && listed?.disabled}
              link={isAdmin ? 'Change' : null}
              facts={isSeen ? mayFacts(name, isAdmin ? (listed ?? {}) : own) : []}
              sentences={isSeen ? [next.get(name)?.sentence ?? ownLimitsLeft(view, name).join('. ')] : []}
            />
          )
        })}
      </ul>
    </Section>
  )
}
