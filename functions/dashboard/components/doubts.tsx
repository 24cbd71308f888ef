import { units as inUnits } from '../../../shared/guard/sentences.ts'
import type { DoubtAnswer, OldDoubt, Reconciliation } from '../../../shared/ledger/book/figure.ts'
import type { FieldFaults, FormValues } from '../flash.ts'
import { ChoiceField } from '../kit/fields.tsx'
import { projectAddress, updateAddress } from '../kit/parts.tsx'

const prefix = 'doubt-'

export const isDoubtField = (name: string): boolean => name.startsWith(prefix)

const answers = [
  ['ran', 'It ran'],
  ['did-not-run', 'It did not run'],
] as const

interface DoubtFieldsProps {
  readonly doubts: readonly OldDoubt[]
  readonly formId: string
  readonly input: FormValues
  readonly faults: FieldFaults | undefined
}

/** A figure that is read now has these updates if they ran. Booking it says first whether they ran. */
export const DoubtFields = ({ doubts, formId, input, faults }: DoubtFieldsProps) => (
  <>
    {doubts.map(({ id, project, units }) => (
      <ChoiceField
        formId={formId}
        faults={faults}
        name={`${prefix}${id}`}
        value={input[`${prefix}${id}`]}
        options={answers}
        label={`In doubt: ${project}, ${inUnits(units)}`}
        note={
          <>
            <a href={updateAddress(id)}>The update</a>; booking the figure says this first.
          </>
        }
      />
    ))}
  </>
)

/** `undefined`: the form names no doubt. */
export function readDoubts(form: URLSearchParams): Readonly<Record<string, DoubtAnswer>> | undefined {
  const said = [...form]
    .filter(([name]) => isDoubtField(name))
    .map(([name, value]) => [name.slice(prefix.length), value])
  return said.length === 0 ? undefined : Object.fromEntries(said)
}

export const ClosedDoubts = ({ doubts }: Pick<Reconciliation, 'doubts'>) =>
  doubts.length === 0 ? null : (
    <>
      <p>Booking first says whether these updates in doubt ran:</p>
      <ul class="lines">
        {doubts.map(({ id, project, units, outcome }) => (
          <li>
            <a href={projectAddress(project)}>{project}</a> <a href={updateAddress(id)}>{inUnits(units)}</a>:{' '}
            {outcome === 'ran' ? 'it ran' : 'it did not run'}
          </li>
        ))}
      </ul>
    </>
  )
