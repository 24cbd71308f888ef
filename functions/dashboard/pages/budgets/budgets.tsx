import { budgetName } from '../../../../shared/guard/fields.ts'
import { problem } from '../../../../shared/guard/problems.ts'
import { count, zoneOf } from '../../../../shared/guard/sentences.ts'
import type { Services } from '../../../../shared/guard/services.ts'
import { budgetNamed, rootBudget } from '../../../../shared/ledger/book/definitions.ts'
import { type BudgetRow, budgetRows, type CounterRow } from '../../components/budget-rows.ts'
import { ChoiceField, Faults, ReasonField, TextField } from '../../components/fields.tsx'
import { FormToken, type Frame } from '../../components/layout.tsx'
import { budgetAddress, numberColumns, Section, TableHead, UnitsCell, ZoneNote } from '../../components/parts.tsx'
import { reasonOf, retryOnConflict } from '../../forms.ts'
import type { PageRoutes, Visit } from '../../session.tsx'
import { addBook } from './book.tsx'
import { addBudget } from './budget.tsx'
import { budgetWords, labels, textsIn } from './budget-texts.ts'
import { addBudgetEdit } from './edit.tsx'
import { addFreeze } from './freeze.tsx'
import { addProjects } from './projects.tsx'

export function addBudgetPages(routes: PageRoutes, services: Services): void {
  const { guard } = services

  routes.page('/dashboard/budgets', {
    GET: async (visit) => {
      visit.mustHave('read')
      return showAll(visit, [])
    },

    POST: async (visit) => {
      visit.mustHave('admin')
      const result = await makeBudget(visit, services)
      if (result.kind === 'invalid') return showAll(visit, result.faults)
      return visit.redirect({ done: [`The budget ${result.name} is made.`], failed: [] }, budgetAddress(result.name))
    },
  })

  addBudget(routes, services)
  addBudgetEdit(routes, services)
  addBook(routes, services)
  addProjects(routes, services)
  addFreeze(routes, services)

  async function showAll({ show, permissions, frame, form }: Visit, faults: readonly string[]) {
    const view = await guard.ledger.view()
    const rows = budgetRows(view, [])
    const isAdmin = permissions.scopes.has('admin')
    const projectCountOf = (name: string) => budgetNamed(view.definitions, name)?.projects.length ?? 0
    return show(
      'Budgets',
      <>
        {rows.length > 1 ? null : <EmptyBudgets isAdmin={isAdmin} />}
        <BudgetTree rows={rows} projectCountOf={projectCountOf} />
        {isAdmin ? (
          <MakeForm frame={frame} parents={rows.map(({ name }) => name)} input={form} faults={faults} />
        ) : null}
        <ZoneNote zone={zoneOf(view)} />
      </>,
    )
  }
}

const EmptyBudgets = ({ isAdmin }: { isAdmin: boolean }) => (
  <p class="empty">
    There is only the account itself, and everybody shares it.{' '}
    {isAdmin
      ? 'Make a budget for a team or a customer below: what it spends counts in the account too, and never more than you give it.'
      : 'An administrator can make a budget for a team or a customer here.'}
  </p>
)

const BudgetTree = ({
  rows,
  projectCountOf,
}: {
  rows: readonly BudgetRow[]
  projectCountOf: (name: string) => number
}) => (
  <div class="wide">
    <table class="tree">
      <caption>Each budget below its parent. What it spends counts in all above it, up to account.</caption>
      <TableHead
        columns={['Budget', ...numberColumns('Left this month', 'Spent', 'Held, in doubt', 'Left today', 'Projects')]}
      />
      <tbody>
        {rows.map((row) => (
          <tr>
            <th scope="row" class={`in-tree depth-${row.depth}`}>
              {row.depth === 0 ? null : <span class="hidden">{`Level ${row.depth}: `}</span>}
              <a href={budgetAddress(row.name)}>{row.name}</a>
              {row.frozen === null ? null : (
                <span class="note">
                  <span aria-hidden="true">❄</span> frozen
                  {row.frozen.budget === row.name ? `: ${row.frozen.stop.reason}` : ` with ${row.frozen.budget}`}
                </span>
              )}
            </th>
            <td data-name="Left this month" class="number">
              <UnitsLeft counter={row.month} />
            </td>
            <UnitsCell name="Spent" units={row.month.spent} />
            <UnitsCell name="Held, in doubt" units={row.month.held + row.month.inDoubt} />
            <td data-name="Left today" class={row.day ? 'number' : 'number nothing'}>
              {row.day ? <UnitsLeft counter={row.day} /> : <span class="unknown">no limit</span>}
            </td>
            <td data-name="Projects" class={projectCountOf(row.name) > 0 ? 'number' : 'number nothing'}>
              {projectCountOf(row.name) === 0 ? <span class="unknown">–</span> : count(projectCountOf(row.name))}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  </div>
)

const UnitsLeft = ({ counter: { total, available } }: { counter: CounterRow }) =>
  total === null ? (
    <span class="unknown">no limit</span>
  ) : (
    <>
      <strong class={available <= 0 ? 'none' : ''}>{count(available)}</strong>{' '}
      <span class="note">of {count(total)}</span>
    </>
  )

type MakeResult =
  | { readonly kind: 'made'; readonly name: string }
  | { readonly kind: 'invalid'; readonly faults: readonly string[] }

async function makeBudget({ form, session }: Visit, { guard, kinds }: Services): Promise<MakeResult> {
  const { textsOf, differences, toRequest } = budgetWords(kinds)
  const name = budgetName.safeParse(form.get('name')?.trim() ?? '')
  const texts = textsIn(form, textsOf({ name: '', parent: rootBudget, limits: [], projects: [] }))
  const parsed = toRequest(texts, [])
  if (!name.success || parsed.kind === 'invalid') {
    const nameFaults = name.success ? [] : [`Name: it ${name.error.issues[0]?.message}.`]
    return { kind: 'invalid', faults: [...nameFaults, ...(parsed.kind === 'invalid' ? parsed.faults : [])] }
  }
  const reason = reasonOf(form)
  const by = { caller: session.sub, ...(reason !== undefined && { reason }) }
  const result = await retryOnConflict(async () => {
    const { definitions } = await guard.ledger.view()
    const existing = budgetNamed(definitions, name.data)
    if (!existing)
      return guard.putBudget({ ...parsed.request, name: name.data }, { ...by, onlyAt: [definitions.revision] })
    // The user pressed the button twice.
    if (differences(textsOf(existing), texts).length === 0) return { kind: 'changed', created: false }
    const detail = `There is a budget ${name.data} already; nothing was changed.`
    return { kind: 'problem', problem: problem('wrong-state', detail) }
  })
  return result.kind === 'changed'
    ? { kind: 'made', name: name.data }
    : { kind: 'invalid', faults: [result.problem.detail] }
}

interface MakeFormProps {
  readonly frame: Frame
  readonly parents: readonly string[]
  /** The input so far. */
  readonly input: URLSearchParams
  readonly faults: readonly string[]
}

const MakeForm = (props: MakeFormProps) => {
  const value = (name: string) => props.input.get(name) ?? undefined
  return (
    <Section id="make" title="New budget">
      <Faults faults={props.faults} />
      {/* With the anchor, the next page scrolls to this form, below the budgets. */}
      <form method="post" action="/dashboard/budgets#make">
        <FormToken frame={props.frame} />
        <div class="fields">
          <TextField
            formId="make"
            name="name"
            label="Name"
            value={value('name')}
            note="Of a-z, 0-9 and -."
            isRequired
          />
          <ChoiceField
            formId="make"
            name="parent"
            label={labels.parent}
            value={value('parent')}
            options={props.parents.map((name) => [name, name])}
          />
          <TextField
            formId="make"
            name="month"
            label={labels.month}
            value={value('month')}
            note="Units, or “unlimited”."
            isNumber
            isRequired
          />
          <TextField
            formId="make"
            name="day"
            label={labels.day}
            value={value('day') ?? 'unlimited'}
            isNumber
            isRequired
          />
          <ReasonField formId="make" value={value('reason')} isOptional />
        </div>
        <p class="buttons">
          <button type="submit" class="primary">
            Make it
          </button>
        </p>
      </form>
    </Section>
  )
}
