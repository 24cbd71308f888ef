import { count } from '../../../../shared/guard/sentences.ts'
import { unlistedCallers } from '../../../../shared/ledger/book/definitions.ts'
import type { View } from '../../../../shared/ledger/views/views.ts'
import { callerAddress, Section } from '../../components/parts.tsx'
import { Facts } from '../../kit/facts.tsx'

/** The rules for callers that are not listed. */
export function UnlistedSection({ view }: { view: View }) {
  const { unlisted } = view.definitions
  return (
    <Section id="unlisted" title="Callers that are not listed">
      <Facts
        rows={[
          unlisted?.perUpdate !== undefined && ['At most for one update', count(unlisted.perUpdate)],
          unlisted?.ratePerMinute !== undefined && ['Requests a minute', count(unlisted.ratePerMinute)],
        ]}
      />
      <p>
        {unlisted ? null : 'No rules are set: tokens allow what they say. '}
        <a href={callerAddress(unlistedCallers)}>{unlisted ? 'Change these rules' : 'Set limits for them'}</a>
      </p>
    </Section>
  )
}
