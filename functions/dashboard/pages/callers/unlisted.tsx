import { count } from '../../../../shared/guard/sentences.ts'
import { maxUnlisted, unlistedIn } from '../../../../shared/ledger/book/book.ts'
import { limitOf, unlistedCallers, windowKinds } from '../../../../shared/ledger/book/definitions.ts'
import type { View } from '../../../../shared/ledger/views/views.ts'
import { callerAddress, Fact, Facts, Section, Sign } from '../../components/parts.tsx'

/** The rules for callers that are not listed. */
export function UnlistedSection({ view }: { view: View }) {
  const { unlisted } = view.definitions
  return (
    <Section id="unlisted" title="Callers that are not listed">
      {unlisted ? <UnlistedFacts view={view} unlisted={unlisted} /> : null}
      <p>
        {unlisted ? null : 'No rules are set: tokens allow what they say. '}
        <a href={callerAddress(unlistedCallers)}>{unlisted ? 'Change these rules' : 'Set limits for them'}</a>
      </p>
    </Section>
  )
}

function UnlistedFacts({ view, unlisted }: { view: View; unlisted: NonNullable<View['definitions']['unlisted']> }) {
  const { limits, perUpdate, ratePerMinute } = unlisted
  const limited = limits && { name: unlistedCallers, limits }
  const counted = Math.max(...windowKinds.map((window) => unlistedIn(view.book, view.definitions, window).length))
  return (
    <>
      <Facts>
        {limited
          ? windowKinds
              .map((window) => ({ window, limit: limitOf(limited, window) }))
              .map(({ window, limit }) =>
                limit === 'unlimited' ? null : <Fact name={`Limit per ${window}, each`}>{count(limit)}</Fact>,
              )
          : null}
        {perUpdate === undefined ? null : <Fact name="At most for one update">{count(perUpdate)}</Fact>}
        {ratePerMinute === undefined ? null : <Fact name="Requests a minute">{count(ratePerMinute)}</Fact>}
        {limited ? (
          <Fact name="Counted this month">
            {count(counted)} of at most {maxUnlisted}
          </Fact>
        ) : null}
      </Facts>
      {counted >= maxUnlisted ? (
        <p class="warning">
          <Sign name="warning" /> No further caller is counted: another one that is not listed is refused until the
          month ends. List those that matter.
        </p>
      ) : null}
    </>
  )
}
