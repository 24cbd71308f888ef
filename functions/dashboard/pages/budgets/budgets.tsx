import { budgetName } from '../../../../shared/guard/fields.ts'
import { problem } from '../../../../shared/guard/problems.ts'
import { count, zoneOf } from '../../../../shared/guard/sentences.ts'
import type { Services } from '../../../../shared/guard/services.ts'
import { budgetNamed, rootBudget } from '../../../../shared/ledger/book/definitions.ts'
import { type BudgetRow, budgetRows, type CounterRow } from '../../components/budget-rows.ts'
import { ChoiceField, Faults, ReasonField, TextField } from '../../components/fields.tsx'
import { FormToken, type Frame } from '../../components/layout.tsx'
import { budgetAddress, numberColumns, Section, TableHead, UnitsCell, ZoneNote } from '../../components/parts.tsx'
import { onNewest, reasonOf } from '../../forms.ts'
import type { PageRoutes, Visit } from '../../session.tsx'
import { addBook } from './book.tsx'
import { addBudget } from './budget.tsx'
import { budgetWords, labels, textsIn } from './budget-texts.ts'
import { addBudgetEdit } from './edit.tsx'
import { addFreeze } from './freeze.tsx'
import { addProjects } from './projects.tsx'

/** All budgets as a tree, and a form for a new one. */
export function addBudgetPages(routes: PageRoutes, services: Services): void {
  const { guard } = services

  routes.page('/dashboard/budgets', {
    GET: async (visit) => {
      visit.mustHave('read')
      return showAll(visit, [])
    },

    POST: async (visit) => {
      visit.mustHave('admin')
      const made = await makeBudget(visit, services)
      if (made.kind === 'wrong') return showAll(visit, made.wrong)
      return visit.tell({ done: [`The budget ${made.name} is made.`], failed: [] }, budgetAddress(made.name))
    },
  })

  addBudget(routes, services)
  addBudgetEdit(routes, services)
  addBook(routes, services)
  addProjects(routes, services)
  addFreeze(routes, services)

  async function showAll({ show, allowed, frame, form }: Visit, wrong: readonly string[]) {
    const view = await guard.ledger.view()
    const rows = budgetRows(view, [])
    const isAdmin = allowed.scopes.has('admin')
    const owned = (name: string) => budgetNamed(view.definitions, name)?.projects.length ?? 0
    return show(
      'Budgets',
      <>
        {rows.length > 1 ? null : <NoneYet isAdmin={isAdmin} />}
        <Tree rows={rows} owned={owned} />
        {isAdmin ? <MakeForm frame={frame} parents={rows.map(({ name }) => name)} given={form} wrong={wrong} /> : null}
        <ZoneNote zone={zoneOf(view)} />
      </>,
    )
  }
}

const NoneYet = ({ isAdmin }: { isAdmin: boolean }) => (
  <p class="empty">
    There is only the account itself, and everybody shares it.{' '}
    {isAdmin
      ? 'Make a budget for a team or a customer below: what it spends counts in the account too, and never more than you give it.'
      : 'An administrator can make a budget for a team or a customer here.'}
  </p>
)

const Tree = ({ rows, owned }: { rows: readonly BudgetRow[]; owned: (name: string) => number }) => (
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
              <Left of={row.month} />
            </td>
            <UnitsCell name="Spent" units={row.month.spent} />
            <UnitsCell name="Held, in doubt" units={row.month.held + row.month.inDoubt} />
            <td data-name="Left today" class={row.day ? 'number' : 'number nothing'}>
              {row.day ? <Left of={row.day} /> : <span class="unknown">no limit</span>}
            </td>
            <td data-name="Projects" class={owned(row.name) > 0 ? 'number' : 'number nothing'}>
              {owned(row.name) === 0 ? <span class="unknown">–</span> : count(owned(row.name))}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  </div>
)

const Left = ({ of: { total, available } }: { of: CounterRow }) =>
  total === null ? (
    <span class="unknown">no limit</span>
  ) : (
    <>
      <strong class={available <= 0 ? 'none' : ''}>{count(available)}</strong>{' '}
      <span class="note">of {count(total)}</span>
    </>
  )

type Made =
  | { readonly kind: 'made'; readonly name: string }
  | { readonly kind: 'wrong'; readonly wrong: readonly string[] }

async function makeBudget({ form, session }: Visit, { guard, kinds }: Services): Promise<Made> {
  const { textsOf, differences, toRequest } = budgetWords(kinds)
  const name = budgetName.safeParse(form.get('name')?.trim() ?? '')
  const texts = textsIn(form, textsOf({ name: '', parent: rootBudget, limits: [], projects: [] }))
  const read = toRequest(texts, [])
  if (!name.success || read.kind === 'wrong') {
    const faults = name.success ? [] : [`Name: it ${name.error.issues[0]?.message}.`]
    return { kind: 'wrong', wrong: [...faults, ...(read.kind === 'wrong' ? read.wrong : [])] }
  }
  const reason = reasonOf(form)
  const by = { caller: session.sub, ...(reason !== undefined && { reason }) }
  const changed = await onNewest(async () => {
    const { definitions } = await guard.ledger.view()
    const there = budgetNamed(definitions, name.data)
    if (!there) return guard.putBudget({ ...read.request, name: name.data }, { ...by, onlyAt: [definitions.revision] })
    // Pressing twice is not a conflict.
    if (differences(textsOf(there), texts).length === 0) return { kind: 'changed', created: false }
    const detail = `There is a budget ${name.data} already; nothing was changed.`
    return { kind: 'problem', problem: problem('wrong-state', detail) }
  })
  return changed.kind === 'changed'
    ? { kind: 'made', name: name.data }
    : { kind: 'wrong', wrong: [changed.problem.detail] }
}

interface MakeFormProps {
  readonly frame: Frame
  readonly parents: readonly string[]
  /** The input so far. */
  readonly given: URLSearchParams
  readonly wrong: readonly string[]
}

const MakeForm = (of: MakeFormProps) => {
  const value = (name: string) => of.given.get(name) ?? undefined
  return (
    <Section id="make" title="New budget">
      <Faults faults={of.wrong} />
      {/* The anchor leads back to this form, far below the budgets. */}
      <form method="post" action="/dashboard/budgets#make">
        <FormToken frame={of.frame} />
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
            options={of.parents.map((name) => [name, name])}
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
