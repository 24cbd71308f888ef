import * as z from 'zod/mini'
import { budgetNameOf } from '../../../../shared/api/budgets.ts'
import { Refusal } from '../../../../shared/api/refusal.ts'
import type { Guard } from '../../../../shared/guard/guard.ts'
import type { Author, ChangeResult } from '../../../../shared/guard/people/budgets.ts'
import { noBudget, problem } from '../../../../shared/guard/problems.ts'
import { unownedPayer } from '../../../../shared/guard/rules/projects.ts'
import { count, list } from '../../../../shared/guard/sentences.ts'
import {
  type Budget,
  budgetNamed,
  type OwnedProject,
  ownerOf,
} from '../../../../shared/ledger/definitions/definitions.ts'
import type { Problem } from '../../../../shared/ledger/updates/update.ts'
import { projects as projectsSchema } from '../../../../shared/records/budget.ts'
import { budgetName, project } from '../../../../shared/records/common-fields.ts'
import { reportsOf } from '../../../../shared/reports/reports.ts'
import type { Flash } from '../../flash.ts'
import { asSentence, flashOf, retryOnConflict } from '../../forms.ts'
import { action, ConfirmForm } from '../../kit/action.tsx'
import { budgetAddress, Section, Warning } from '../../kit/parts.tsx'
import type { PageRoutes, Visit } from '../../kit/session.tsx'

const changeSchema = z.pipe(
  z
    .strictObject({
      do: z.enum(['add', 'move', 'remove']),
      /** A project to add, and its id. */
      name: z.exactOptional(project),
      id: z.exactOptional(project),
      /** The chosen projects. */
      project: z.exactOptional(z.array(project)),
      to: z.exactOptional(budgetName),
      /** Absent: the budget of the page. */
      from: z.exactOptional(budgetName),
      /** Absent: a move is previewed first. */
      step: z.exactOptional(z.enum(['confirm', 'edit'])),
      /** The user confirmed ids that the service contradicts. */
      asWritten: z.exactOptional(z.literal('yes')),
    })
    .check(
      z.refine(({ name, project }) => name !== undefined || project !== undefined, {
        path: ['project'],
        message: 'needs at least one project: choose some first',
      }),
    ),
  z.transform(({ name, project = [], ...change }) => ({ ...change, names: name === undefined ? project : [name] })),
)
type Change = z.output<typeof changeSchema>

interface Move {
  readonly rows: readonly OwnedProject[]
  readonly from: string
  readonly to: string
}

export function addProjects({ page }: PageRoutes): void {
  page('/dashboard/budgets/:name/projects', {
    POST: action({
      scopes: ['admin'],
      schema: changeSchema,
      lists: ['project'],
      keeps: ['name', 'id'],
      back: ({ c }) => `${budgetAddress(budgetNameOf(c))}#projects`,
      act: async (visit, change) => {
        if (change.step === 'edit') return { done: [], failed: [] }
        const move = await moveOf(visit.guard, budgetNameOf(visit.c), change)
        if (move && (change.do === 'add' || change.step === undefined)) {
          const preview = await showMove(visit, move, change)
          if (preview instanceof Response) return preview
          if (preview.slug === 'contradicted') return showContradiction(visit, change, preview)
          // When a project is added, the change itself reports the problem.
          if (change.do === 'move') throw new Refusal(preview)
        }
        const done = await changeProjects(visit, change, change.do === 'move' ? move : null)
        return 'slug' in done ? showContradiction(visit, change, done) : done
      },
    }),
  })
}

/** `null`: no other budget lists the project. */
async function moveOf(guard: Guard, name: string, { id, names, ...change }: Change): Promise<Move | null> {
  if (change.do === 'remove') return null
  const rows = names.map((each) => ({ name: each, ...(id !== undefined && names.length === 1 && { id }) }))
  if (change.do === 'move') return { rows, from: change.from ?? name, to: change.to ?? name }
  const { definitions } = await guard.ledger.view()
  const from = [...names, id].flatMap((text) => (text === undefined ? [] : (ownerOf(definitions, text) ?? [])))[0]
  return from && from.name !== name ? { rows, from: from.name, to: name } : null
}

/** Returns a problem if the service contradicts an id. */
async function changeProjects(
  { c, guard, session }: Visit,
  change: Change,
  move: Move | null,
): Promise<Flash | Problem> {
  const name = budgetNameOf(c)
  const release = change.do === 'remove'
  const reason = `${release ? 'no longer owns' : 'owns'} ${list(change.names)}`.slice(0, 500).toWellFormed()
  const asWritten = change.asWritten !== undefined
  const by = { caller: session.sub, reason, release, asWritten, ...(move && { move: { from: move.from } }) }
  const result = await retryOnConflict(() => putProjects(guard, move?.to ?? name, by, change))
  if (result.kind === 'changed') {
    const notes = (result.notes ?? []).map(asSentence)
    return flashOf(result, [await doneText(guard, name, change), ...notes].join(' '))
  }
  if (result.problem.slug === 'contradicted') return result.problem
  // The guard names the projects that have another owner now.
  return move ? { done: [], failed: [result.problem.detail] } : flashOf(result, '')
}

async function putProjects(guard: Guard, name: string, by: Author, change: Change): Promise<ChangeResult> {
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
  return guard.putBudget({ ...unchanged, projects: projects.data }, { ...by, onlyAt: [definitions.revision] })
}

/** Shows the effect of a move, or returns the problem that prevents it. */
async function showMove(
  visit: Visit,
  { rows, from, to }: Move,
  { asWritten }: Pick<Change, 'asWritten'>,
): Promise<Response | Problem> {
  const { c, guard, session, show, frame } = visit
  const { definitions } = await guard.ledger.view()
  const budget = budgetNamed(definitions, to)
  if (!budget) return noBudget(to)
  const { frozen: _frozen, ...unchanged } = budget
  const moved = { ...unchanged, projects: [...budget.projects, ...rows] }
  const preview = await guard.previewBudget(moved, {
    caller: session.sub,
    move: { from },
    asWritten: asWritten !== undefined,
  })
  if (preview.kind === 'problem') return preview.problem
  const [first] = rows
  const what = rows.length === 1 ? `${first?.name}` : `${count(rows.length)} projects`
  const page = budgetAddress(budgetNameOf(c))
  return show(
    `Move ${what} to ${to}?`,
    <Section id="confirm" title="Confirm">
      {preview.notes.map((note) => (
        <p>{`${note.replace(/\.$/, '')}.`}</p>
      ))}
      <p class="note">
        {to} pays for {rows.length === 1 ? 'its' : 'their'} updates from then on. Units held, in doubt or charged stay
        where they are, and waiting updates are refused.
      </p>
      <ConfirmForm
        frame={frame}
        action={`${page}/projects`}
        confirmLabel={`Move ${what}`}
        back={`${page}#projects`}
        hidden={{
          do: 'move',
          project: rows.map(({ name }) => name),
          from,
          to,
          id: (rows.length === 1 && first?.id) || '',
          asWritten: asWritten ?? '',
        }}
      />
    </Section>,
  )
}

/** Another client would pay for the project of a wrong id, so the user has to confirm it. @throws Refusal if that is not enough */
function showContradiction(visit: Visit, change: Change, problem: Problem): Promise<Response> {
  const { members } = problem
  if (members.asWritten !== true) throw new Refusal(problem)
  const { do: button, names, id, from, to } = change
  const page = budgetAddress(budgetNameOf(visit.c))
  const errors = (members.errors ?? []) as readonly { readonly message: string }[]
  const texts = [...new Set(errors.map(({ message }) => asSentence(message)))]
  return visit.show(
    'Keep the id as written?',
    <Section id="confirm" title="Confirm">
      {texts.map((text) => (
        <Warning isAlert>{text}</Warning>
      ))}
      <p class="note">With a wrong id, this budget pays for another project. Nothing was changed yet.</p>
      <ConfirmForm
        frame={visit.frame}
        action={`${page}/projects`}
        confirmLabel="Keep as written"
        back={`${page}#projects`}
        hidden={{
          ...(button === 'add' ? { name: names[0] ?? '' } : { project: names }),
          do: button,
          id: id ?? '',
          from: from ?? '',
          to: to ?? '',
          asWritten: 'yes',
        }}
      />
    </Section>,
  )
}

/** Says what was done. Notes follow if new names affect other projects. */
async function doneText(guard: Guard, name: string, change: Change): Promise<string> {
  const view = await guard.ledger.view()
  const { names, to: receiver } = change
  if (change.do === 'remove')
    return `${list(names)}: no longer owned by ${name}. From now on ${unownedPayer(view.definitions, names)}.`
  const done = `${list(names)} ${names.length === 1 ? 'belongs' : 'belong'} to ${change.do === 'move' ? receiver : name}.`
  if (change.do === 'move') return done
  const to = budgetNamed(view.definitions, name)?.projects ?? []
  const members = [{ member: 'projects', from: to.filter((owned) => !names.includes(owned.name)), to }]
  const reports = await reportsOf(guard)
  return [done, ...(await reports.notesOf([{ budget: name, isNew: false, members }], view))].join(' ')
}

/** Idempotent, because users press twice. */
function projectsAfter(projects: Budget['projects'], change: Change): Budget['projects'] {
  const { do: kind, names, id } = change
  if (kind === 'remove') return projects.filter(({ name }) => !names.includes(name))
  const isThere = (name: string) =>
    projects.some((owned) => owned.name === name && (kind === 'move' || owned.id === id))
  const added = names.filter((name) => !isThere(name)).map((name) => ({ name, ...(id !== undefined && { id }) }))
  return [...projects, ...added]
}
