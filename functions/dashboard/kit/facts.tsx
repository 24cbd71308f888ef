import type { Child } from 'hono/jsx'

type Absent = null | undefined | false | ''
export type FactRow = readonly [name: Child, value: Child] | Absent

/** Leaves out rows without a value. */
export const Facts = ({ rows, isLong = false }: { rows: readonly FactRow[]; isLong?: boolean }) => (
  <dl class={isLong ? 'facts long' : 'facts'}>
    {rows.map((row) =>
      !row || absent.includes(row[1]) ? null : (
        <div>
          <dt>{row[0]}</dt>
          <dd>{row[1]}</dd>
        </div>
      ),
    )}
  </dl>
)

const absent: readonly Child[] = [null, undefined, false, '']
