import * as z from 'zod/mini'
import { budgetNameOf, projects as projectsSchema } from '../../../../shared/api/budgets.ts'
import { budgetName, project } from '../../../../shared/guard/fields.ts'
import type { Guard } from '../../../../shared/guard/guard.ts'
import type { Author, ChangeResult } from '../../../../shared/guard/people/budgets.ts'
import { noBudget, problem } from '../../../../shared/guard/problems.ts'
import { count, list } from '../../../../shared/guard/sentences.ts'
import { unownedPayer } from '../../../../shared/guard/update/unowned.ts'
import { type Budget, budgetNamed, type Definitions, ownerOf } from '../../../../shared/ledger/book/definitions.ts'
import { anyOf, type Kinds, kindsBy } from '../../../../shared/tracking/kinds.ts'
import { ConfirmForm } from '../../components/edit.tsx'
import { TextField } from '../../components/fields.tsx'
import { FormToken, type Frame } from '../../components/layout.tsx'
import { budgetAddress, Section } from '../../components/parts.tsx'
import { readFields, retryOnConflict } from '../../forms.ts'
import type { PageRoutes, Visit } from '../../session.tsx'

const changeSchema = z.discriminatedUnion('do', [
  z.strictObject({ form: z.string(), do: z.literal('add'), name: project, id: z.exactOptional(project) }),
  z.strictObject({
    form: z.string(),
    do: z.literal('move'),
    name: project,
    id: z.exactOptional(project),
    from: budgetName,
    step: z.enum(['confirm', 'edit']),
  }),
  z.strictObject({
    form: z.string(),
    do: z.literal('remove'),
    project: z.array(project, 'needs at least one project: choose some first'),
  }),
])
type Change = z.output<typeof changeSchema>

export function addProjects({ page }: PageRoutes): void {
  page('/dashboard/budgets/:name/projects', {
    POST: async (visit) => {
      const { c, form, session, mustHave, redirect, guard } = visit
      mustHave('admin')
      const name = budgetNameOf(c)
      const change = readFields(form, changeSchema, ['project'])
      if (change.do === 'move' && change.step === 'edit')
        return redirect({ done: [], failed: [] }, `${budgetAddress(name)}#projects`)
      const preview = change.do === 'add' ? await moveAsked(visit, name, change) : null
      if (preview) return preview
      const reason = change.do === 'remove' ? `no longer owns ${list(change.project)}` : `owns ${change.name}`
      const by = { caller: session.sub, reason: reason.slice(0, 500).toWellFormed() }
      const result = await retryOnConflict(() => changeProjects(guard, name, change, by))
      const flash =
        result.kind === 'changed'
          ? { done: [(await doneOf(guard, name, change)).join(' ')], failed: [] }
          : { done: [], failed: [result.problem.detail] }
      return redirect(flash, `${budgetAddress(name)}#projects`)
    },
  })
}

async function changeProjects(guard: Guard, name: string, change: Change, by: Author): Promise<ChangeResult> {
  const { definitions } = await guard.ledger.view()
  const budget = budgetNamed(definitions, name)
  if (!budget) return { kind: 'problem', problem: noBudget(name) }
  const { frozen: _frozen, ...unchanged } = budget
  const projects = projectsSchema.safeParse(projectsAfter(budget.projects, change))
  if (!projects.success) {
    const detail = `${name} ${projects.error.issues[0]?.message}.`
    return { kind: 'problem', problem: problem('invalid-request', detail) }
  }
  if (projects.data.length === budget.projects.length) return { kind: 'changed', created: false }
  const may = { release: change.do === 'remove', ...(change.do === 'move' && { move: { from: change.from } }) }
  return guard.putBudget({ ...unchanged, projects: projects.data }, { ...by, ...may, onlyAt: [definitions.revision] })
}

/** Another budget lists the project: shows what a move changes. `null`: none does. */
async function moveAsked(
  { guard, session, show, frame }: Visit,
  name: string,
  { do: _add, form: _form, ...row }: Extract<Change, { do: 'add' }>,
): Promise<Response | null> {
  const { definitions } = await guard.ledger.view()
  const budget = budgetNamed(definitions, name)
  const from = [row.name, row.id].flatMap((text) => (text === undefined ? [] : (ownerOf(definitions, text) ?? [])))[0]
  if (!budget || !from || from.name === name) return null
  const { frozen: _frozen, ...unchanged } = budget
  const moved = { ...unchanged, projects: [...budget.projects, row] }
  const preview = await guard.previewBudget(moved, { caller: session.sub, move: { from: from.name } })
  // The form's own answer says what is wrong.
  if (preview.kind === 'problem') return null
  return show(
    `Move ${row.name} to ${name}?`,
    <Section id="confirm" title="Confirm">
      {preview.notes.map((note) => (
        <p>{note}</p>
      ))}
      <p class="note">
        {name} pays for its updates from then on. What is held, in doubt or charged stays where it was, and updates that
        wait are refused.
      </p>
      <ConfirmForm
        action={budgetAddress(name, '/projects')}
        frame={frame}
        hidden={{ do: 'move', ...row, from: from.name }}
        confirmLabel={`Move ${row.name}`}
        leaveLabel="Cancel"
        back={`${budgetAddress(name)}#projects`}
      />
    </Section>,
  )
}

/** After the change, with what a new name brings for others. */
async function doneOf(guard: Guard, name: string, change: Change): Promise<readonly string[]> {
  const view = await guard.ledger.view()
  if (change.do === 'remove') {
    const payer = unownedPayer(view.definitions, change.project)
    return [`${list(change.project)}: no longer owned by ${name}. From now on ${payer}.`]
  }
  const done = `${change.name} belongs to ${name}.`
  if (change.do === 'move') return [done]
  const to = budgetNamed(view.definitions, name)?.projects ?? []
  const members = [{ member: 'projects', from: to.filter((owned) => owned.name !== change.name), to }]
  return [done, ...(await (await guard.background()).notesOf([{ budget: name, isNew: false, members }], view))]
}

const payerWithout = ({ budgets }: Definitions, { name, projects, ...rest }: Budget): string =>
  unownedPayer(
    { budgets: { ...budgets, [name]: { ...rest, name, projects: [] } } },
    projects.map((owned) => owned.name),
  )

/** Idempotent, because users press twice. */
function projectsAfter(projects: Budget['projects'], change: Change): Budget['projects'] {
  if (change.do === 'remove') return projects.filter(({ name }) => !change.project.includes(name))
  const { name, id } = change
  if (projects.some((owned) => owned.name === name && owned.id === id)) return projects
  return [...projects, { name, ...(id !== undefined && { id }) }]
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
        <form method="post" action={action}>
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
          <p class="buttons">
            <button type="submit" name="do" value="remove">
              Remove chosen projects
            </button>
          </p>
        </form>
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
