import type { Child } from 'hono/jsx'
import { count } from '../../../shared/guard/sentences.ts'
import type { CounterRow } from './budget-rows.ts'
import { Bar, Swatch } from './charts.tsx'
import { Fact, Facts, Time, Units } from './parts.tsx'

/** One counter of a budget: its bar, its figures, and where its units come from. */
export function Counter({ name, of, zone }: { name: string; of: CounterRow; zone: string }) {
  const { total, spent, held, inDoubt, committed, projected, evenPace, exhaustedAt, unpriced } = of
  return (
    <>
      <Bar name={name} of={of} />
      <Facts>
        <Fact name={<Key of="spent">Spent</Key>}>
          <Units of={spent} />
        </Fact>
        <Fact name={<Key of="held">Held</Key>}>
          <Units of={held} />
        </Fact>
        <Fact name={<Key of="in-doubt">In doubt</Key>}>
          <Units of={inDoubt} />
        </Fact>
        <Fact name={<Key of="committed">Committed</Key>}>
          <Units of={committed} />
        </Fact>
        <Fact name="Projected">
          <Units of={projected} />
        </Fact>
        {evenPace === null ? null : (
          <Fact name={<Key of="pace">Even pace</Key>}>
            <Units of={evenPace} />
          </Fact>
        )}
        {total === null || projected <= total ? null : (
          <Fact name={<Key of="limit">All there is</Key>}>
            <Units of={total} />
          </Fact>
        )}
      </Facts>
      {exhaustedAt === null ? null : (
        <p class="warning">
          <span aria-hidden="true">⚠</span> Plans want more than is left from <Time at={exhaustedAt} zone={zone} /> on.
        </p>
      )}
      {unpriced === 0 ? null : (
        <p class="note">
          {unpriced === 1
            ? 'One project of a plan has no known price, and is not counted as committed.'
            : `${count(unpriced)} projects of plans have no known price, and are not counted as committed.`}
        </p>
      )}
    </>
  )
}

const Key = ({ of, children }: { of: Parameters<typeof Swatch>[0]['of']; children: Child }) => (
  <>
    <Swatch of={of} /> {children}
  </>
)

export const Limit = ({ of: { limit, granted } }: { of: CounterRow }) => (
  <>
    {limit === 'unlimited' ? 'No limit' : `Limit ${count(limit)}`}
    {granted === 0 ? null : `, ${count(granted)} granted`}
  </>
)

/** Where the total comes from, and when all of it is there again. */
export const Terms = ({ of, zone }: { of: CounterRow; zone: string }) => (
  <>
    <Limit of={of} />; resets <Time at={of.end} zone={zone} />
  </>
)
