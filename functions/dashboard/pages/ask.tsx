import * as z from 'zod/mini'
import { reason } from '../../../shared/api/schemas.ts'
import { count, units as inUnits, list, zoneOf } from '../../../shared/guard/sentences.ts'
import type { Estimate } from '../../../shared/guard/update/estimate.ts'
import { checksInWords } from '../../../shared/guard/update/explain.ts'
import type { View } from '../../../shared/ledger/book/view.ts'
import { systemIds } from '../../../shared/platform/ids.ts'
import { toUnits, type Units } from '../../../shared/platform/words.ts'
import { budgetName, kindOf, project, units } from '../../../shared/records/common-fields.ts'
import { type Kinds, kindsBy, namesOf } from '../../../shared/tracking/kinds.ts'
import { EffectOnChain, LastRun, runBefore, Steps } from '../components/cost.tsx'
import { isGrantable, Remedies } from '../components/remedies.tsx'
import type { FieldFaults } from '../flash.ts'
import { faultsIn, numberSchema, readFields, tagLines } from '../forms.ts'
import { ActionForm, action, Buttons, fieldsOf } from '../kit/action.tsx'
import { ChoiceField, ReasonField, TagsField, TextField } from '../kit/fields.tsx'
import { Fold, isRefilled } from '../kit/fold.tsx'
import { List } from '../kit/list.tsx'
import { askAddress, linked, Section, Sign, say, updateAddress } from '../kit/parts.tsx'
import type { PageRoutes, PageServices, Visit } from '../kit/session.tsx'

const recentUpdates = 50

const querySchemaOf = (kinds: Kinds) =>
  z.strictObject({ kind: kindOf(kinds), project, budget: z.exactOptional(budgetName) })
type Wanted = z.output<ReturnType<typeof querySchemaOf>>

const formSchemaOf = (kinds: Kinds) =>
  z.strictObject({
    ...querySchemaOf(kinds).shape,
    /** With this key, a second press does not ask for a second update. */
    key: z.string().check(z.regex(/^page-[0-9a-z]{26}$/, 'is missing: load the page again')),
    units: z.pipe(numberSchema, units),
    payer: budgetName,
    owner: z.exactOptional(budgetName),
    do: z.enum(['ask', 'ask-approval', 'force'], 'must be one of the buttons'),
    reason: z.exactOptional(reason),
    tags: z.exactOptional(tagLines),
  })

const queryFields = ['kind', 'project', 'budget']

export function addAsk({ page }: PageRoutes, services: PageServices): void {
  page(askAddress(), {
    GET: async (visit) => {
      visit.mustHave('run', 'propose')
      return showAsk(visit, services)
    },

    POST: action({
      scopes: ['run', 'propose'],
      schema: formSchemaOf(services.kinds),
      keeps: ['reason', 'tags'],
      back: ({ form }) => askAddress(Object.fromEntries([...form].filter(([name]) => queryFields.includes(name)))),
      act: async ({ session, c, guard }, { key, payer, owner, do: button, units: maxUnits, project, ...wanted }) => {
        const asker = { ...identityOf(session), route: 'POST /dashboard/ask', key, traceparent: c.var.traceparent }
        const request = {
          ...wanted,
          projects: [project],
          whenShort: button === 'ask-approval' ? ('ask' as const) : ('refuse' as const),
          // The guard refuses a price or a payer that the page did not show.
          maxUnits,
          shown: { budget: payer, owner: owner ?? null },
          ...(button === 'force' && { force: true }),
        }
        // The reader of the stream starts the update, so the user does not wait.
        const { updates, problem } = await guard.submit(asker, request, { respondAsync: true, endsAt: c.var.endsAt })
        const [update] = updates
        if (update) return c.redirect(updateAddress(update.id), 303)
        return { done: [], failed: [problem?.slug === 'key-reused' ? askedBefore : (problem?.detail ?? '')] }
      },
    }),
  })
}

const askedBefore = 'You already sent this page with other values, so nothing more was asked for.'

/** A user from Slack has no token, so the request counts as one from Slack. */
const identityOf = ({ sub, token }: Visit['session']) =>
  token ? ({ caller: sub, token, via: 'http' } as const) : ({ caller: sub, via: 'slack' } as const)

async function showAsk(visit: Visit, { kinds }: PageServices) {
  const { guard } = visit
  const { wanted, faults } = readWanted(visit, kinds)
  const [view, { rows }, estimate] = await Promise.all([
    guard.ledger.view(wanted ? [{ work: wanted }] : []),
    guard.ledger.updates({}, recentUpdates),
    wanted ? guard.estimate({ ...wanted, projects: [wanted.project], explain: true }, identityOf(visit.session)) : null,
  ])
  const wrong = estimate && 'slug' in estimate ? estimate : estimate?.projects[0]?.units === null && estimate.problem
  const refused = wrong ? { project: wrong.detail } : undefined
  return visit.show(
    'Ask for an update',
    <>
      <AskForm
        visit={visit}
        view={view}
        kinds={kinds}
        faults={faults ?? refused}
        known={rows.map((update) => update.project)}
        isEstimated={wanted !== undefined && !wrong}
      />
      {wanted && estimate && !('slug' in estimate) ? (
        wrong ? (
          <Section id="estimate" title="Estimate" isHidden>
            <Why estimate={estimate} />
          </Section>
        ) : (
          <EstimateSection visit={visit} view={view} wanted={wanted} estimate={estimate} />
        )
      ) : (
        <p class="note">The estimate is free. Nothing is spent before you ask for the update.</p>
      )}
    </>,
  )
}

function readWanted({ query }: Visit, kinds: Kinds): { wanted?: Wanted; faults?: FieldFaults } {
  if (query.size === 0) return {}
  try {
    return { wanted: readFields(query, querySchemaOf(kinds)) }
  } catch (error) {
    const faults = faultsIn(error, queryFields)
    if (faults) return { faults }
    throw error
  }
}

interface AskFormProps {
  readonly visit: Visit
  readonly view: View
  readonly kinds: Kinds
  readonly faults: FieldFaults | undefined
  readonly known: readonly string[]
  /** Then the page's main button asks for the update. */
  readonly isEstimated: boolean
}

function AskForm(props: AskFormProps) {
  const { visit, view, kinds, faults, known, isEstimated } = props
  const { query, permissions } = visit
  const { definitions } = view

  const budgets = Object.values(definitions.budgets)
  const projects = budgets.flatMap(({ projects }) => projects)
  const ids = new Map(projects.filter(({ id }) => id !== undefined).map(({ name, id }) => [id, name] as const))
  const names = [...new Set([...projects.map(({ name }) => name), ...known])].filter((name) => !ids.has(name))
  const options = [...names.toSorted().map((name) => [name] as const), ...ids]
  const field = (name: string) => ({ formId: 'ask', name, value: query.get(name) ?? '', faults })
  const byId = kindsBy(kinds, 'id')
  const charged = budgets.filter(({ name }) => permissions.mayCharge(name)).map(({ name }) => [name, name] as const)
  return (
    <form method="get" action={askAddress()} class="card">
      <div class="fields">
        <TextField
          {...field('project')}
          label="Project"
          listId="known-projects"
          maxLength={512}
          isRequired
          note={byId.length === 0 ? undefined : `The name at the service, but the id for ${list(byId)}.`}
        />
        <ChoiceField {...field('kind')} label="Kind" options={namesOf(kinds).map((kind) => [kind, kind])} />
        <ChoiceField {...field('budget')} label="Budget" options={[['', 'the project’s own'], ...charged]} />
      </div>
      <datalist id="known-projects">
        {options.map(([value, text]) => (
          <option value={value}>{text}</option>
        ))}
      </datalist>
      <Buttons of={[{ text: 'Estimate', tone: isEstimated ? undefined : 'primary' }]} />
    </form>
  )
}

interface EstimateProps {
  readonly visit: Visit
  readonly view: View
  readonly wanted: Wanted
  readonly estimate: Estimate
}

function EstimateSection({ visit, view, wanted, estimate }: EstimateProps) {
  const { kind, project } = wanted
  const { problem, approval, figures, budgets } = estimate
  const units = priceOf(estimate)
  const [asked] = view.results
  return (
    <Section id="estimate" title={`The ${kind} update of ${project} costs ${inUnits(units)}`}>
      {problem ? (
        <>
          <p class="problem">
            <strong>It would be refused now.</strong> {linked(problem.detail)}
          </p>
          <Remedies
            view={view}
            permissions={visit.permissions}
            mayAskAgain={false}
            update={{ kind, project, budget: budgets[0] ?? '', problem }}
          />
        </>
      ) : approval === null ? (
        <p class="good">
          <Sign name="check" /> It can run now.
        </p>
      ) : (
        <p class="warning">
          <span aria-hidden="true">!</span> Needs approval: {approval}.
        </p>
      )}
      <Steps
        main="Estimate"
        rows={[['Estimate', count(units)]]}
        apart={[
          ['Last run', <LastRun run={asked ? runBefore(asked, view.now) : null} zone={zoneOf(view)} />],
          ['Pays', list(budgets)],
        ]}
      />
      <EffectOnChain figures={figures} units={units} />
      <Why estimate={estimate} />
      <AskButtons visit={visit} view={view} wanted={wanted} estimate={estimate} />
    </Section>
  )
}

const signs = {
  passes: 'check',
  refuses: 'cross',
  asks: 'exclamation',
  'would-refuse': 'warning',
  unknown: 'question',
} as const

const Why = ({ estimate: { problem, projects } }: { estimate: Estimate }) => (
  <details open={problem !== null}>
    <summary>Why</summary>
    <List
      isInset
      class="checks"
      label="Every check, in its order"
      rows={checksInWords(projects[0]?.checks ?? [])}
      rowClass={({ verdict }) => (verdict === 'refuses' ? 'short' : undefined)}
      columns={[
        {
          name: 'Check',
          isHead: true,
          cell: ({ check, verdict }) => say`${<Sign name={signs[verdict]} />} ${check.replace('-', ' ')}`,
          note: ({ verdict }) => verdict.replace('-', ' '),
        },
        { name: 'Figure', cell: ({ figure }) => linked(figure) },
      ]}
    />
  </details>
)

function AskButtons({ visit: { frame, permissions }, wanted, estimate }: EstimateProps) {
  const { problem, approval, payers } = estimate
  const payer = payers[wanted.project]
  const isForced = problem?.slug === 'already-updated' || problem?.slug === 'already-fresh'
  const isOffered = !problem || (isForced && permissions.mayForce) || isGrantable(problem)
  if (!isOffered || !payer) return null
  const units = priceOf(estimate)
  const [value, extra] = isForced
    ? ['force', 'Forcing skips the cool-down and spends the units again. ']
    : problem
      ? ['ask-approval', 'An approver can grant the missing units once. ']
      : ['ask', '']
  const text = isForced ? 'Force the update' : problem || approval ? 'Ask for approval' : 'Ask for the update'
  const form = (
    <ActionForm
      frame={frame}
      id="ask"
      action={askAddress()}
      hidden={{
        ...wanted,
        units: String(units),
        payer: payer.budget,
        key: `page-${systemIds.random()}`,
        ...(payer.owner !== null && { owner: payer.owner }),
      }}
      note={`${extra}It never costs more than the ${inUnits(units)} shown here: if the price has grown, it is refused.`}
      buttons={[{ text, name: 'do', value, tone: isForced ? 'danger' : 'primary' }]}
    >
      <ReasonField {...fieldsOf(frame, 'ask')('reason')} isOptional={!isForced} />
      <TagsField {...fieldsOf(frame, 'ask')('tags')} />
    </ActionForm>
  )
  if (!isForced) return form
  return (
    <Fold id="force" title={text} isOpen={isRefilled(frame, 'reason')}>
      {form}
    </Fold>
  )
}

/** The sum leaves out a project that was updated a short while ago, but this page can force its update. */
const priceOf = ({ units, projects: [only] }: Estimate): Units => only?.units ?? toUnits(units)
