import * as z from 'zod/mini'
import { budgetNameOf } from '../../../../shared/api/budgets.ts'
import type { Guard } from '../../../../shared/guard/guard.ts'
import type { Author, ChangeResult } from '../../../../shared/guard/people/budgets.ts'
import { noBudget, problem } from '../../../../shared/guard/problems.ts'
import { count, list } from '../../../../shared/guard/sentences.ts'
import { unownedPayer } from '../../../../shared/guard/update/unowned.ts'
import {
  type Budget,
  budgetNamed,
  type Definitions,
  type OwnedProject,
  ownerOf,
} from '../../../../shared/ledger/book/definitions.ts'
import type { Problem } from '../../../../shared/ledger/updates/update.ts'
import { projects as projectsSchema } from '../../../../shared/records/budget.ts'
import { budgetName, project } from '../../../../shared/records/fields.ts'
import { anyOf, type Kinds, kindsBy } from '../../../../shared/tracking/kinds.ts'
import { ChoiceField, TextField } from '../../components/fields.tsx'
import { FormToken, type Frame } from '../../components/layout.tsx'
import { budgetAddress, Section } from '../../components/parts.tsx'
import type { Flash } from '../../flash.ts'
import { readFields, retryOnConflict } from '../../forms.ts'
import { ConfirmForm } from '../../kit/edit.tsx'
import type { PageRoutes, Visit } from '../../session.tsx'

const chosen = z.array(project, 'needs at least one project: choose some first')
const changeSchema = z.discriminatedUnion('do', [
  z.strictObject({ do: z.literal('add'), name: project, id: z.exactOptional(project) }),
  z.strictObject({
    do: z.literal('move'),
    project: chosen,
    id: z.exactOptional(project),
    to: budgetName,
    /** Without it the budget of the page. */
    from: z.exactOptional(budgetName),
    /** Without it the preview. */
    step: z.exactOptional(z.enum(['confirm', 'edit'])),
  }),
  z.strictObject({
    do: z.literal('remove'),
    project: chosen,
    /** The same form can move them. */
    to: z.exactOptional(z.string()),
  }),
])
type Change = z.output<typeof changeSchema>

/** From one budget to another. */
interface Move {
  readonly rows: readonly OwnedProject[]
  readonly from: string
  readonly to: string
}

export function addProjects({ page }: PageRoutes): void {
  page('/dashboard/budgets/:name/projects', {
    POST: async (visit) => {
      const { c, form, mustHave, redirect, guard } = visit
      mustHave('admin')
      const name = budgetNameOf(c)
      const answer = (flash: Flash) => redirect(flash, `${budgetAddress(name)}#projects`)
      const change = readFields(form, changeSchema, ['project'])
      if (change.do === 'move' && change.step === 'edit') return answer({ done: [], failed: [] })
      const move = change.do === 'remove' ? null : await moveOf(guard, name, change)
      if (move && (change.do !== 'move' || change.step === undefined)) {
        const preview = await showMove(visit, move)
        if (preview instanceof Response) return preview
        // The form's own answer says what is wrong.
        if (change.do === 'move') return answer({ done: [], failed: [preview.detail] })
      }
      return answer(await changeProjects(visit, name, change, change.do === 'move' ? move : null))
    },
  })
}

/** `null`: no other budget lists the project. */
async function moveOf(guard: Guard, name: string, change: Exclude<Change, { do: 'remove' }>): Promise<Move | null> {
  const { id, ...asked } = change
  const names = asked.do === 'add' ? [asked.name] : asked.project
  const rows = names.map((each) => ({ name: each, ...(id !== undefined && names.length === 1 && { id }) }))
  if (asked.do === 'move') return { rows, from: asked.from ?? name, to: asked.to }
  const { definitions } = await guard.ledger.view()
  const from = [asked.name, id].flatMap((text) => (text === undefined ? [] : (ownerOf(definitions, text) ?? [])))[0]
  return from && from.name !== name ? { rows, from: from.name, to: name } : null
}

async function changeProjects(
  { guard, session }: Visit,
  name: string,
  change: Change,
  move: Move | null,
): Promise<Flash> {
  const names = list(change.do === 'add' ? [change.name] : change.project)
  const reason = `${change.do === 'remove' ? 'no longer owns' : 'owns'} ${names}`.slice(0, 500).toWellFormed()
  const by = {
    ...{ caller: session.sub, reason, release: change.do === 'remove' },
    ...(move && { move: { from: move.from } }),
  }
  const after = (projects: Budget['projects']) => projectsAfter(projects, change)
  const result = await retryOnConflict(() => putProjects(guard, move?.to ?? name, by, after))
  return result.kind === 'changed'
    ? { done: [(await doneOf(guard, name, change)).join(' ')], failed: [] }
    : { done: [], failed: [result.problem.detail] }
}

async function putProjects(
  guard: Guard,
  name: string,
  by: Author,
  after: (projects: Budget['projects']) => Budget['projects'],
): Promise<ChangeResult> {
  const { definitions } = await guard.ledger.view()
  const budget = budgetNamed(definitions, name)
  if (!budget) return { kind: 'problem', problem: noBudget(name) }
  const { frozen: _frozen, ...unchanged } = budget
  const projects = projectsSchema.safeParse(after(budget.projects))
  if (!projects.success) {
    const detail = `${name} ${projects.error.issues[0]?.message}.`
    return { kind: 'problem', problem: problem('invalid-request', detail) }
  }
  if (projects.data.length === budget.projects.length) return { kind: 'changed', created: false }
  return guard.putBudget({ ...unchanged, projects: projects.data }, { ...by, onlyAt: [definitions.revision] })
}

/** Shows what a move changes, or says why it cannot be. */
async function showMove(
  { c, guard, session, show, frame }: Visit,
  { rows, from, to }: Move,
): Promise<Response | Problem> {
  const { definitions } = await guard.ledger.view()
  const budget = budgetNamed(definitions, to)
  if (!budget) return noBudget(to)
  const { frozen: _frozen, ...unchanged } = budget
  const moved = { ...unchanged, projects: [...budget.projects, ...rows] }
  const preview = await guard.previewBudget(moved, { caller: session.sub, move: { from } })
  if (preview.kind === 'problem') return preview.problem
  const [first] = rows
  const what = rows.length === 1 ? `${first?.name}` : `${count(rows.length)} projects`
  const page = budgetAddress(budgetNameOf(c))
  return show(
    `Move ${what} to ${to}?`,
    <Section id="confirm" title="Confirm">
      {preview.notes.map((note) => (
        <p>{note}</p>
      ))}
      <p class="note">
        {to} pays for {rows.length === 1 ? 'its' : 'their'} updates from then on. What is held, in doubt or charged
        stays where it was, and updates that wait are refused.
      </p>
      <ConfirmForm
        action={`${page}/projects`}
        frame={frame}
        hidden={{
          do: 'move',
          project: rows.map(({ name }) => name),
          id: (rows.length === 1 && first?.id) || '',
          from,
          to,
        }}
        confirmLabel={`Move ${what}`}
        back={`${page}#projects`}
      />
    </Section>,
  )
}

/** After the change, with what a new name brings for others. */
async function doneOf(guard: Guard, name: string, change: Change): Promise<readonly string[]> {
  const view = await guard.ledger.view()
  const named = change.do === 'add' ? [change.name] : change.project
  if (change.do === 'remove') {
    const payer = unownedPayer(view.definitions, named)
    return [`${list(named)}: no longer owned by ${name}. From now on ${payer}.`]
  }
  const done = `${list(named)} ${named.length === 1 ? 'belongs' : 'belong'} to ${change.do === 'move' ? change.to : name}.`
  if (change.do === 'move') return [done]
  const to = budgetNamed(view.definitions, name)?.projects ?? []
  const members = [{ member: 'projects', from: to.filter((owned) => owned.name !== change.name), to }]
  return [done, ...(await guard.notesOf([{ budget: name, isNew: false, members }], view))]
}

const payerWithout = ({ budgets }: Definitions, { name, projects, ...rest }: Budget): string =>
  unownedPayer(
    { budgets: { ...budgets, [name]: { ...rest, name, projects: [] } } },
    projects.map((owned) => owned.name),
  )

/** Idempotent, because users press twice. */
function projectsAfter(projects: Budget['projects'], change: Change): Budget['projects'] {
  if (change.do === 'remove') return projects.filter(({ name }) => !change.project.includes(name))
  const id = change.id !== undefined && { id: change.id }
  if (change.do === 'move') {
    const names = change.project.filter((name) => projects.every((owned) => owned.name !== name))
    return [...projects, ...names.map((name) => ({ name, ...id }))]
  }
  const { name } = change
  if (projects.some((owned) => owned.name === name && owned.id === change.id)) return projects
  return [...projects, { name, ...id }]
}

const OwnedForm = (props: { budget: Budget; definitions: Definitions; frame: Frame }) => {
  const { budget, definitions, frame } = props
  const { name, projects } = budget
  const others = Object.keys(definitions.budgets).filter((each) => each !== name)
  return (
    <form method="post" action={budgetAddress(name, '/projects')}>
      <FormToken frame={frame} />
      <ul class="projects">
        {projects.map((owned, position) => (
          <li>
            <input type="checkbox" name="project" value={owned.name} id={`project-${position}`} />
            <label for={`project-${position}`}>
              <ProjectName project={owned} />
            </label>
          </li>
        ))}
      </ul>
      <p class="note">
        {`If you remove ${projects.length === 1 ? 'it, no budget lists it' : 'projects, no budget lists them'}, and from then on ${payerWithout(definitions, budget)}.`}
      </p>
      {others.length === 0 ? null : (
        <div class="fields">
          <ChoiceField formId="move" name="to" label="Move to" options={others.map((each) => [each, each])} />
        </div>
      )}
      <p class="buttons">
        {others.length === 0 ? null : (
          <button type="submit" name="do" value="move">
            Move chosen projects
          </button>
        )}
        <button type="submit" name="do" value="remove">
          Remove chosen projects
        </button>
      </p>
    </form>
  )
}

export const ProjectsSection = (props: {
  budget: Budget
  definitions: Definitions
  frame: Frame
  isAdmin: boolean
  kinds: Kinds
}) => {
  const { budget, definitions, frame, isAdmin, kinds } = props
  const { name, projects } = budget
  const action = budgetAddress(name, '/projects')
  return (
    <Section id="projects" title={`Projects${projects.length === 0 ? '' : ` (${count(projects.length)})`}`}>
      {projects.length === 0 ? (
        <p class="empty">
          It owns no project. A budget pays for the projects that it owns without being named in the request.
        </p>
      ) : isAdmin ? (
        <OwnedForm budget={budget} definitions={definitions} frame={frame} />
      ) : (
        <ul class="projects">
          {projects.map((owned) => (
            <li>
              <ProjectName project={owned} />
            </li>
          ))}
        </ul>
      )}
      {isAdmin ? (
        <form method="post" action={action}>
          <FormToken frame={frame} />
          <div class="fields">
            <TextField formId="project" name="name" label="Project" maxLength={512} isRequired />
            <TextField
              formId="project"
              name="id"
              label="Id (optional)"
              note={`As ${anyOf(kindsBy(kinds, 'id'))} paths name it.`}
            />
          </div>
          <p class="buttons">
            <button type="submit" name="do" value="add">
              Add project
            </button>
          </p>
        </form>
      ) : null}
    </Section>
  )
}

const ProjectName = ({ project: { name, id } }: { project: Budget['projects'][number] }) => (
  <span>
    {name}
    {id === undefined ? null : <span class="note"> id {id}</span>}
  </span>
)
