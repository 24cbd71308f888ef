import { unownedPayer } from '../../../../shared/guard/rules/projects.ts'
import { count } from '../../../../shared/guard/sentences.ts'
import type { View } from '../../../../shared/ledger/book/view.ts'
import type { Budget } from '../../../../shared/ledger/definitions/definitions.ts'
import { anyOf, type Kinds, kindsBy } from '../../../../shared/tracking/kinds.ts'
import { ActionForm, Buttons, fieldsOf } from '../../kit/action.tsx'
import { ChoiceField, TextField } from '../../kit/fields.tsx'
import { Fold, isRefilled } from '../../kit/fold.tsx'
import { FormToken, type Frame } from '../../kit/layout.tsx'
import { budgetAddress, ProjectLink, Section } from '../../kit/parts.tsx'

interface SectionProps {
  readonly budget: Budget
  readonly view: View
  readonly frame: Frame
  readonly isAdmin: boolean
  readonly kinds: Kinds
}

export function ProjectsSection({ budget, view, frame, isAdmin, kinds }: SectionProps) {
  const { projects } = budget
  const rows = (
    <ul class="projects">
      {projects.map(({ name }) => (
        <li>
          {isAdmin && <input type="checkbox" name="project" value={name} aria-label={`Choose ${name}`} />}
          <span>
            <ProjectLink of={{ project: name }} definitions={view.definitions} />
          </span>
        </li>
      ))}
    </ul>
  )
  return (
    <Section id="projects" title={`Projects${projects.length === 0 ? '' : ` (${count(projects.length)})`}`}>
      {projects.length === 0 ? (
        <p class="empty">
          It owns no project. A budget pays for the projects that it owns without being named in the request.
        </p>
      ) : isAdmin ? (
        <form method="post" action={actionOf(budget)}>
          <FormToken frame={frame} />
          {rows}
          <MoveFold budget={budget} view={view} />
        </form>
      ) : (
        rows
      )}
      {isAdmin ? <AddFold budget={budget} frame={frame} kinds={kinds} /> : null}
    </Section>
  )
}

const actionOf = ({ name }: Budget): string => budgetAddress(name, '/projects')

function MoveFold({ budget, view }: Pick<SectionProps, 'budget' | 'view'>) {
  const { name, projects } = budget
  const { [name]: _, ...without } = view.definitions.budgets
  const others = Object.keys(without).map((each) => [each, each] as const)
  const budgets = { ...without, [name]: { ...budget, projects: [] } }
  const payer = unownedPayer(
    { budgets },
    projects.map((owned) => owned.name),
  )
  const removed = projects.length === 1 ? 'it, no budget lists it' : 'projects, no budget lists them'
  const remove = { text: 'Remove chosen projects', name: 'do', value: 'remove' }
  const move = { text: 'Move chosen projects', name: 'do', value: 'move' }
  return (
    <Fold id="move" title={others.length === 0 ? 'Remove chosen projects' : 'Move or remove chosen projects'}>
      {others.length === 0 ? null : (
        <div class="fields">
          <ChoiceField formId="move" name="to" label="Move to" options={others} />
        </div>
      )}
      <p class="note">{`If you remove ${removed}, and from then on ${payer}.`}</p>
      <Buttons of={others.length === 0 ? [remove] : [move, remove]} />
    </Fold>
  )
}

function AddFold({ budget, frame, kinds }: Pick<SectionProps, 'budget' | 'frame' | 'kinds'>) {
  const field = fieldsOf(frame, 'add')
  return (
    <Fold id="add" title="Add a project" isOpen={isRefilled(frame, 'id')}>
      <ActionForm
        frame={frame}
        id="project"
        action={actionOf(budget)}
        buttons={[{ text: 'Add project', name: 'do', value: 'add', tone: 'primary' }]}
      >
        <TextField {...field('name')} label="Project" maxLength={512} isRequired />
        <TextField
          {...field('id')}
          label="Id (optional)"
          note={`The id in the paths of ${anyOf(kindsBy(kinds, 'id'))} updates.`}
        />
      </ActionForm>
    </Fold>
  )
}
