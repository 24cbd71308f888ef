import * as z from 'zod/mini'
import { Refusal } from '../../../shared/api/refusal.ts'
import { reason } from '../../../shared/api/schemas.ts'
import { count, units as inUnits, list, zoneOf } from '../../../shared/guard/sentences.ts'
import type { Estimate } from '../../../shared/guard/update/estimate.ts'
import type { View } from '../../../shared/ledger/views/views.ts'
import { systemIds } from '../../../shared/platform/ids.ts'
import { toUnits, type Units } from '../../../shared/platform/words.ts'
import { budgetName, kindOf, project, units } from '../../../shared/records/fields.ts'
import { type Kinds, kindsBy, namesOf } from '../../../shared/tracking/kinds.ts'
import { EffectOnChain } from '../components/effect-on-chain.tsx'
import { ChoiceField, HiddenFields, ReasonField, TagsField, TextField } from '../components/fields.tsx'
import { LastRun, runBefore } from '../components/last-run.tsx'
import { FormToken } from '../components/layout.tsx'
import { askAddress, Section, Sign, updateAddress } from '../components/parts.tsx'
import { isGrantable, Remedies } from '../components/remedies.tsx'
import type { FieldFaults } from '../flash.ts'
import { faultsIn, inputOf, notDone, numberSchema, readFields, tagLines } from '../forms.ts'
import type { PageRoutes, PageServices, Visit } from '../session.tsx'

const recentUpdates = 50

const querySchemaOf = (kinds: Kinds) =>
  z.strictObject({ kind: kindOf(kinds), project, budget: z.exactOptional(budgetName) })
type Wanted = z.output<ReturnType<typeof querySchemaOf>>

const formSchemaOf = (kinds: Kinds) =>
  z.strictObject({
    ...querySchemaOf(kinds).shape,
    /** Pressing twice asks once. */
    key: z.string().check(z.regex(/^page-[0-9a-z]{26}$/, 'is missing: load the page again')),
    units: z.pipe(numberSchema, units),
    payer: budgetName,
    owner: z.exactOptional(budgetName),
    do: z.enum(['ask', 'ask-approval', 'force'], 'must be one of the buttons'),
    reason: z.exactOptional(reason),
    tags: z.exactOptional(tagLines),
  })

const querySchemaFields = ['kind', 'project', 'budget']

export function addAsk({ page }: PageRoutes, services: PageServices): void {
  const formSchema = formSchemaOf(services.kinds)

  page(askAddress(), {
    GET: async (visit) => {
      visit.mustHave('run', 'propose')
      return showAsk(visit, services)
    },

    POST: async (visit) => {
      visit.mustHave('run', 'propose')
      const { form } = visit
      const back = askAddress(Object.fromEntries([...form].filter(([name]) => querySchemaFields.includes(name))))
      try {
        const to = await submit(visit, readFields(form, formSchema))
        return await ('address' in to ? visit.c.redirect(to.address, 303) : sendBack(visit, back, to.detail))
      } catch (error) {
        if (!(error instanceof Refusal)) throw error
        const faults = faultsIn(error, ['reason', 'tags'])
        return sendBack(visit, back, faults ? notDone : error.problem.detail, faults ?? undefined)
      }
    },
  })
}

const sendBack = (visit: Visit, back: string, detail: string, faults?: FieldFaults) =>
  visit.redirect(
    { done: [], failed: [detail], input: inputOf(visit.form, 'reason', 'tags'), ...(faults && { faults }) },
    back,
  )

async function submit(
  { session, c, guard }: Visit,
  wanted: z.output<ReturnType<typeof formSchemaOf>>,
): Promise<{ readonly address: string } | { readonly detail: string }> {
  const { kind, project, budget, key, payer, owner, do: button, reason, tags } = wanted
  const asker = { ...identityOf(session), route: 'POST /dashboard/ask', key, traceparent: c.var.traceparent }
  const request = {
    ...({ kind, projects: [project], whenShort: button === 'ask-approval' ? 'ask' : 'refuse' } as const),
    // A price or a payer that the page did not show is refused.
    ...{ maxUnits: wanted.units, shown: { budget: payer, owner: owner ?? null } },
    ...(budget !== undefined && { budget }),
    ...(reason !== undefined && { reason }),
    ...(tags && { tags }),
    ...(button === 'force' && { force: true }),
  }
  // The stream starts it, so the user does not wait.
  const { updates, problem } = await guard.submit(asker, request, { respondAsync: true, endsAt: c.var.endsAt })
  const [update] = updates
  if (update) return { address: updateAddress(update.id) }
  if (problem?.slug !== 'key-reused') return { detail: problem?.detail ?? '' }
  return { detail: 'You asked with this page before, in other words. Nothing more was asked for.' }
}

/** The list of callers alone says what a user from Slack may do, so the request is Slack's. */
const identityOf = ({ sub, token }: Visit['session']) =>
  token ? ({ caller: sub, token, via: 'http' } as const) : ({ caller: sub, via: 'slack' } as const)

async function showAsk(visit: Visit, { kinds }: PageServices) {
  const { guard } = visit
  const { wanted, faults } = readWanted(visit, kinds)
  const [view, { rows }, estimate] = await Promise.all([
    guard.ledger.view(wanted ? [{ work: wanted }] : []),
    guard.ledger.updates({}, recentUpdates),
    wanted ? guard.estimate({ ...wanted, projects: [wanted.project] }, identityOf(visit.session)) : null,
  ])
  const isRefused = estimate !== null && 'slug' in estimate
  const projectFault = isRefused ? { project: estimate.detail } : undefined
  return visit.show(
    'Ask for an update',
    <>
      <AskForm
        {...{ visit, view, kinds }}
        faults={faults ?? projectFault}
        known={[...new Set(rows.map((update) => update.project))]}
      />
      {wanted && estimate && !('slug' in estimate) ? (
        <EstimateSection {...{ visit, view, wanted, estimate }} />
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
    const faults = faultsIn(error, querySchemaFields)
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
}

function AskForm({ visit: { query, permissions }, view: { definitions }, kinds, faults, known }: AskFormProps) {
  const budgets = Object.values(definitions.budgets)
  const projects = budgets.flatMap(({ projects }) => projects)
  const ids = new Map(projects.flatMap(({ name, id }) => (id === undefined ? [] : [[id, name] as const])))
  const names = [...new Set([...projects.map(({ name }) => name), ...known])].filter((name) => !ids.has(name))
  const field = (name: string) => ({ formId: 'ask', name, value: query.get(name) ?? '', faults })
  const byId = kindsBy(kinds, 'id')
  return (
    <form method="get" action={askAddress()} class="card">
      <div class="fields">
        <TextField
          {...field('project')}
          label="Project"
          listId="known-projects"
          note={byId.length === 0 ? undefined : `As the service names it; its id for ${list(byId)}.`}
          maxLength={512}
          isRequired
        />
        <ChoiceField {...field('kind')} label="Kind" options={namesOf(kinds).map((kind) => [kind, kind])} />
        <ChoiceField
          {...field('budget')}
          label="Budget"
          options={[
            ['', 'the project’s own'],
            ...budgets.filter(({ name }) => permissions.mayCharge(name)).map(({ name }) => [name, name] as const),
          ]}
        />
      </div>
      <datalist id="known-projects">
        {names.toSorted().map((name) => (
          <option value={name} />
        ))}
        {[...ids].map(([id, name]) => (
          <option value={id}>{name}</option>
        ))}
      </datalist>
      <p class="buttons">
        <button type="submit" class="primary">
          Estimate
        </button>
      </p>
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
      <dl class="steps">
        <div>
          <dt>Estimate</dt>
          <dd>{count(units)}</dd>
        </div>
        <div class="apart">
          <dt>Last run</dt>
          <dd>
            <LastRun run={asked ? runBefore(asked, view.now) : null} zone={zoneOf(view)} />
          </dd>
        </div>
        <div class="apart">
          <dt>Pays</dt>
          <dd>{list(budgets)}</dd>
        </div>
      </dl>
      <EffectOnChain figures={figures} units={units} />
      <Verdict problem={problem} approval={approval} />
      {problem ? (
        <Remedies
          update={{ kind, project, budget: budgets[0] ?? '', problem }}
          {...{ view, permissions: visit.permissions }}
          mayAskAgain={false}
        />
      ) : null}
      <AskButtons {...{ visit, view, wanted, estimate }} />
    </Section>
  )
}

function Verdict({ problem, approval }: Pick<Estimate, 'problem' | 'approval'>) {
  if (problem)
    return (
      <p class="problem">
        <strong>It would be refused now.</strong> {problem.detail}
      </p>
    )
  return approval === null ? (
    <p class="good">
      <Sign name="check" /> It can run now.
    </p>
  ) : (
    <p class="warning">
      <span aria-hidden="true">!</span> Needs approval: {approval}.
    </p>
  )
}

function AskButtons({ visit: { frame, permissions }, wanted, estimate }: EstimateProps) {
  const { kind, project, budget } = wanted
  const { problem, approval, payers } = estimate
  const units = priceOf(estimate)
  const payer = payers[project]
  const isForced = problem?.slug === 'already-updated' || problem?.slug === 'already-fresh'
  const isOffered = !problem || (isForced && permissions.mayForce) || isGrantable(problem)
  if (!isOffered || !payer) return null
  const action = isForced ? 'force' : problem ? 'ask-approval' : 'ask'
  const hidden = {
    ...{ kind, project, units: String(units), payer: payer.budget, key: `page-${systemIds.random()}` },
    ...(budget !== undefined && { budget }),
    ...(payer.owner !== null && { owner: payer.owner }),
  }
  const needsApproval = action === 'ask-approval' || approval !== null
  return (
    <form method="post" action={askAddress()}>
      <FormToken frame={frame} />
      <HiddenFields values={hidden} />
      <ReasonField
        formId="ask"
        value={frame.flash?.input?.reason}
        faults={frame.flash?.faults}
        isOptional={action !== 'force'}
      />
      <TagsField formId="ask" value={frame.flash?.input?.tags} faults={frame.flash?.faults} />
      <p class="note">
        {action === 'ask-approval' ? 'An approver can grant what is short, once. ' : ''}
        {action === 'force' ? 'Forcing skips the cool-down and spends the units again. ' : ''}
        It never costs more than the {inUnits(units)} shown here: if the price has grown, it is refused.
      </p>
      <p class="buttons">
        <button type="submit" name="do" value={action} class="primary">
          {action === 'force' ? 'Force the update' : needsApproval ? 'Ask for approval' : 'Ask for the update'}
        </button>
      </p>
    </form>
  )
}

/** The sum leaves out what was done a short while ago, and here that can be forced. */
const priceOf = ({ units, projects: [only] }: Estimate): Units => only?.units ?? toUnits(units)
