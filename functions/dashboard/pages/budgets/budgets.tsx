import * as z from 'zod/mini'
import { problem } from '../../../../shared/guard/problems.ts'
import { zoneOf } from '../../../../shared/guard/sentences.ts'
import { budgetNamed, rootBudget } from '../../../../shared/ledger/book/definitions.ts'
import { budgetName } from '../../../../shared/records/fields.ts'
import { BudgetTable, NoBudgets, tableFields } from '../../components/budget-table.tsx'
import { FillPatterns } from '../../components/charts.tsx'
import { ChoiceField, Faults, ReasonField, TextField } from '../../components/fields.tsx'
import { FormToken, type Frame } from '../../components/layout.tsx'
import { budgetAddress, Section, ZoneNote } from '../../components/parts.tsx'
import type { FieldFaults } from '../../flash.ts'
import { asSentence, readFields, reasonOf, retryOnConflict } from '../../forms.ts'
import type { PageRoutes, PageServices, Visit } from '../../session.tsx'
import { addBook } from './book.tsx'
import { addBudget } from './budget.tsx'
import { budgetWords, fields, labels, textsIn } from './budget-texts.ts'
import { addBudgetEdit } from './edit.tsx'
import { addProjects } from './projects.tsx'
import { addStops } from './stops.tsx'

const budgetsPath = '/dashboard/budgets'

const tableQuerySchema = z.strictObject(tableFields)

export function addBudgetPages(routes: PageRoutes, services: PageServices): void {
  routes.page(budgetsPath, {
    GET: async (visit) => {
      visit.mustHave('read')
      return showAll(visit, {})
    },

    POST: async (visit) => {
      visit.mustHave('admin')
      const result = await createBudget(visit, services)
      if (result.kind === 'invalid') return showAll(visit, result)
      return visit.redirect({ done: [`Budget ${result.name} created.`], failed: [] }, budgetAddress(result.name))
    },
  })

  addBudget(routes, services)
  addBudgetEdit(routes, services)
  addBook(routes)
  addProjects(routes)
  addStops(routes)
}

async function showAll(visit: Visit, failure: CreateFailure) {
  const query = readFields(visit.query, tableQuerySchema)
  const { view, budgets } = await visit.guard.outlook()
  const costs = await visit.guard.spentCosts(
    view,
    budgets.map(({ figures }) => figures),
  )
  const isAdmin = visit.permissions.scopes.has('admin')
  const parents = Object.keys(view.definitions.budgets).toSorted()
  return visit.show(
    'Budgets',
    <>
      <FillPatterns />
      {failure.detail === undefined ? null : <Faults faults={[failure.detail]} />}
      {budgets.length === 0 ? <NoBudgets /> : null}
      {budgets.length === 1 && budgets[0]?.budget === rootBudget ? <EmptyBudgets isAdmin={isAdmin} /> : null}
      <BudgetTable {...{ view, budgets, query, costs, path: budgetsPath }} />
      {isAdmin ? <CreateForm {...{ frame: visit.frame, parents, input: visit.form, ...failure }} /> : null}
      <ZoneNote zone={zoneOf(view)} />
    </>,
  )
}

const EmptyBudgets = ({ isAdmin }: { isAdmin: boolean }) => (
  <p class="empty">
    There is only the account, and all callers share it.{' '}
    {isAdmin
      ? 'Create a budget for a team or a client: what it spends counts in the account, too, and it cannot spend more than its limit.'
      : 'An administrator can create a budget for a team or a client here.'}
  </p>
)

interface CreateFailure {
  readonly detail?: string
  readonly faults?: FieldFaults
  readonly name?: string
}

type CreateResult = { readonly kind: 'created'; readonly name: string } | ({ readonly kind: 'invalid' } & CreateFailure)

async function createBudget({ form, session, guard }: Visit, { kinds }: PageServices): Promise<CreateResult> {
  const { textsOf, toRequest } = budgetWords(kinds)
  const given = form.get('name')?.trim() ?? ''
  const name = budgetName.safeParse(given)
  const texts = textsIn(form, textsOf({ name: '', parent: rootBudget, limits: [], projects: [] }))
  const parsed = toRequest(texts, [])
  if (!name.success || parsed.kind === 'invalid') {
    const [offered, nameFault] = name.success ? [given, {}] : offeredInstead(given, name.error.issues[0]?.message ?? '')
    return { kind: 'invalid', name: offered, faults: { ...nameFault, ...(parsed.kind === 'invalid' && parsed.faults) } }
  }
  const reason = reasonOf(form)
  const by = { caller: session.sub, ...(reason !== undefined && { reason }) }
  const result = await retryOnConflict(async () => {
    const { definitions } = await guard.ledger.view()
    const existing = budgetNamed(definitions, name.data)
    if (!existing)
      return guard.putBudget({ ...parsed.request, name: name.data }, { ...by, onlyAt: [definitions.revision] })
    // The user pressed the button twice.
    const current = textsOf(existing)
    if (fields.every((name) => texts[name] === current[name])) return { kind: 'changed', created: false }
    const detail = `There is already a budget ${name.data}; nothing was changed.`
    return { kind: 'problem', problem: problem('wrong-state', detail) }
  })
  return result.kind === 'changed'
    ? { kind: 'created', name: name.data }
    : { kind: 'invalid', name: given, detail: result.problem.detail }
}

/** `acme-retail` for `Acme Retail`. */
function offeredInstead(given: string, message: string): readonly [name: string, faults: FieldFaults] {
  const plain = given.normalize('NFKD').toLowerCase().replace(/\p{M}/gu, '')
  const slug = plain
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
    .slice(0, 63)
  return budgetName.safeParse(slug).success
    ? [slug, { name: `“${given}” cannot be a name. How about ${slug}?` }]
    : [given, { name: asSentence(message) }]
}

interface CreateFormProps extends CreateFailure {
  readonly frame: Frame
  readonly parents: readonly string[]
  readonly input: URLSearchParams
}

function CreateForm({ frame, parents, input, faults, name }: CreateFormProps) {
  const field = (field: string) => ({ formId: 'create', name: field, value: input.get(field) ?? undefined, faults })
  return (
    <Section id="create" title="New budget">
      <form method="post" action={budgetsPath}>
        <FormToken frame={frame} />
        <div class="fields">
          <TextField
            {...field('name')}
            value={name}
            label="Name"
            note="a-z, 0-9 and -, such as acme-retail."
            isRequired
          />
          <ChoiceField {...field('parent')} label={labels.parent} options={parents.map((each) => [each, each])} />
          <TextField {...field('month')} label={labels.month} note="Units, or “unlimited”." isNumber isRequired />
          <TextField {...field('day')} value={input.get('day') ?? 'unlimited'} label={labels.day} isNumber isRequired />
          <ReasonField formId="create" value={input.get('reason') ?? undefined} isOptional />
        </div>
        <p class="buttons">
          <button type="submit" class="primary">
            Create budget
          </button>
        </p>
      </form>
    </Section>
  )
}
