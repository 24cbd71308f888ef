import * as z from 'zod/mini'
import { Refusal } from '../../../../shared/api/refusal.ts'
import { reason } from '../../../../shared/api/schemas.ts'
import { problem } from '../../../../shared/guard/problems.ts'
import { zoneOf } from '../../../../shared/guard/sentences.ts'
import { budgetNamed, rootBudget } from '../../../../shared/ledger/definitions/definitions.ts'
import { budgetName } from '../../../../shared/records/common-fields.ts'
import { reportsOf } from '../../../../shared/reports/reports.ts'
import { BudgetTable, tableFields } from '../../components/budget-table.tsx'
import { FillPatterns } from '../../components/charts.tsx'
import type { FieldFaults } from '../../flash.ts'
import { asSentence, inputOf, notDone, readFields, retryOnConflict } from '../../forms.ts'
import { ActionForm, action, fieldsOf } from '../../kit/action.tsx'
import { ChoiceField, TextField } from '../../kit/fields.tsx'
import { FoldedSection, isRefilled } from '../../kit/fold.tsx'
import type { Frame } from '../../kit/layout.tsx'
import { budgetAddress, ZoneNote } from '../../kit/parts.tsx'
import type { PageRoutes, PageServices, Visit } from '../../kit/session.tsx'
import { addBook } from './book.tsx'
import { addBudget } from './budget.tsx'
import { budgetWords, fields, labels, textsIn } from './budget-texts.ts'
import { addCloseMonth } from './close.tsx'
import { addBudgetEdit } from './edit.tsx'
import { addProjects } from './projects.tsx'
import { addStops } from './stops.tsx'

const budgetsPath = '/dashboard/budgets'

const createFields = ['name', 'parent', 'month', 'day', 'reason']

export function addBudgetPages(routes: PageRoutes, services: PageServices): void {
  routes.page(budgetsPath, {
    GET: async (visit) => {
      visit.mustHave('read')
      const query = readFields(visit.query, z.strictObject(tableFields))
      const reports = await reportsOf(visit.guard)
      const { view, budgets } = await reports.outlook()
      const costs = await reports.spentCosts(
        view,
        budgets.map(({ figures }) => figures),
      )
      const isAdmin = visit.permissions.scopes.has('admin')
      const create = isAdmin
        ? 'Create a budget for a team or a client. Its spending counts in the account, too, and cannot exceed its limit.'
        : 'An administrator can create a budget for a team or a client here.'
      return visit.show(
        'Budgets',
        <>
          <FillPatterns />
          {budgets.length === 1 && budgets[0]?.budget === rootBudget ? (
            <p class="empty">{`There is only the account, and all callers share it. ${create}`}</p>
          ) : null}
          <BudgetTable view={view} budgets={budgets} query={query} costs={costs} path={budgetsPath} usualSort="name" />
          {isAdmin ? (
            <CreateForm frame={visit.frame} parents={Object.keys(view.definitions.budgets).toSorted()} />
          ) : null}
          <ZoneNote zone={zoneOf(view)} />
        </>,
      )
    },

    POST: action({
      scopes: ['admin'],
      schema: z.looseObject({ reason: z.exactOptional(reason) }),
      keeps: createFields,
      back: () => `${budgetsPath}#create`,
      act: (visit, { reason }) => createBudget(visit, services, reason),
    }),
  })

  addBudget(routes, services)
  addBudgetEdit(routes, services)
  addBook(routes)
  addCloseMonth(routes)
  addProjects(routes)
  addStops(routes)
}

async function createBudget(visit: Visit, { kinds }: PageServices, reason: string | undefined) {
  const { form, session, guard, redirect } = visit
  const { textsOf, toRequest } = budgetWords(kinds)
  const given = form.get('name')?.trim() ?? ''
  const name = budgetName.safeParse(given)
  const texts = textsIn(form, textsOf({ name: '', parent: rootBudget, limits: [], projects: [] }))
  const parsed = toRequest(texts, [])
  if (!name.success || parsed.kind === 'invalid') {
    const [offered, nameFault] = name.success ? [given, {}] : offeredInstead(given, name.error.issues[0]?.message ?? '')
    const input = { ...inputOf(form, ...createFields), name: offered }
    const faults = { ...nameFault, ...(parsed.kind === 'invalid' && parsed.faults) }
    return redirect({ done: [], failed: [notDone], input, faults }, `${budgetsPath}#create`)
  }
  const by = { caller: session.sub, ...(reason !== undefined && { reason }) }
  const result = await retryOnConflict(async () => {
    const { definitions } = await guard.ledger.view()
    const existing = budgetNamed(definitions, name.data)
    if (!existing)
      return guard.putBudget({ ...parsed.request, name: name.data }, { ...by, onlyAt: [definitions.revision] })
    // The user may have pressed the button twice.
    const current = textsOf(existing)
    if (fields.every((name) => texts[name] === current[name])) return { kind: 'changed', created: false }
    const detail = `There is already a budget ${name.data}; nothing was changed.`
    return { kind: 'problem', problem: problem('wrong-state', detail) }
  })
  if (result.kind === 'problem') throw new Refusal(result.problem)
  return { done: [`Budget ${name.data} created.`], failed: [], to: budgetAddress(name.data) }
}

/** Suggests `acme-retail` for `Acme Retail`. */
function offeredInstead(given: string, message: string): readonly [name: string, faults: FieldFaults] {
  const plain = given.normalize('NFKD').toLowerCase().replace(/\p{M}/gu, '')
  const dashed = plain.replace(/[^a-z0-9]+/g, '-').replace(/^-|-$/g, '')
  const slug = dashed.slice(0, 63)
  return budgetName.safeParse(slug).success
    ? [slug, { name: `“${given}” cannot be a name. How about ${slug}?` }]
    : [given, { name: asSentence(message) }]
}

function CreateForm({ frame, parents }: { frame: Frame; parents: readonly string[] }) {
  const field = fieldsOf(frame, 'create')
  const day = field('day')
  return (
    <FoldedSection id="create" title="Create a budget" isOpen={isRefilled(frame, 'name')}>
      <ActionForm
        frame={frame}
        id="create"
        action={budgetsPath}
        reason="optional"
        buttons={[{ text: 'Create budget', tone: 'primary' }]}
      >
        <TextField {...field('name')} label="Name" note="a-z, 0-9 and -, such as acme-retail." isRequired />
        <ChoiceField {...field('parent')} label={labels.parent} options={parents.map((each) => [each, each])} />
        <TextField {...field('month')} label={labels.month} note="Units, or “unlimited”." isNumber isRequired />
        <TextField {...day} value={day.value ?? 'unlimited'} label={labels.day} isNumber isRequired />
      </ActionForm>
    </FoldedSection>
  )
}
