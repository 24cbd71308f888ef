import { count } from '../../../../shared/guard/sentences.ts'
import { type CallerDefaults, unlistedCallers } from '../../../../shared/ledger/book/definitions.ts'
import type { View } from '../../../../shared/ledger/views/views.ts'
import { callerAddress, Fact, Facts, Section } from '../../components/parts.tsx'

/** The rules for callers that are not listed. */
export function UnlistedSection({ view }: { view: View }) {
  const { unlisted } = view.definitions
  return (
    <Section id="unlisted" title="Callers that are not listed">
      {unlisted ? <UnlistedFacts unlisted={unlisted} /> : null}
      <p>
        {unlisted ? null : 'No rules are set: tokens allow what they say. '}
        <a href={callerAddress(unlistedCallers)}>{unlisted ? 'Change these rules' : 'Set limits for them'}</a>
      </p>
    </Section>
  )
}

function UnlistedFacts({ unlisted: { perUpdate, ratePerMinute } }: { unlisted: CallerDefaults }) {
  return (
    <Facts>
      {perUpdate === undefined ? null : <Fact name="At most for one update">{count(perUpdate)}</Fact>}
      {ratePerMinute === undefined ? null : <Fact name="Requests a minute">{count(ratePerMinute)}</Fact>}
    </Facts>
  )
}
