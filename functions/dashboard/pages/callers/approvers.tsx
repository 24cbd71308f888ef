import { decisionsIn } from '../../../../shared/guard/inbox/inbox.ts'
import { type Definitions, personOf, planOfCaller } from '../../../../shared/ledger/definitions/definitions.ts'
import type { Update } from '../../../../shared/ledger/updates/update.ts'
import { Who } from '../../components/people.tsx'
import { joined } from '../../kit/parts.tsx'

interface Props {
  readonly definitions: Definitions
  /** The latest updates. Their tokens and decisions show approvers that no list names. */
  readonly rows: readonly Update[]
}

/** Tokens are not stored, so this names the approvers that the list and the latest updates show. */
export function Approvers({ definitions, rows }: Props) {
  const people = approversIn(definitions, rows)
  return (
    <p>
      {people.length === 0 ? 'No known caller may approve' : 'May approve: '}
      {joined(people.map((name) => <Who name={name} definitions={definitions} />))}.{' '}
      <span class="note">A caller who is not known here may, too, if their token has the scope approve.</span>
    </p>
  )
}

function approversIn(definitions: Definitions, rows: readonly Update[]): readonly string[] {
  const callers = definitions.callers ?? {}
  const listed = Object.keys(callers).filter((sub) => callers[sub]?.scopes?.includes('approve'))
  const withToken = rows.filter(({ token }) => token?.scopes.includes('approve')).map(({ caller }) => caller)
  const decided = decisionsIn(rows)
    .filter(({ what }) => what === 'approve' || what === 'reject')
    .map(({ by }) => by)
  const known = [...listed, ...withToken, ...decided].filter((sub) => {
    const { scopes, disabled } = callers[sub] ?? {}
    return planOfCaller(sub) === null && !disabled && (scopes?.includes('approve') ?? true)
  })
  return [...new Set(known.map((sub) => personOf(definitions, sub)))].toSorted()
}
