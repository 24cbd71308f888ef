import type { Child } from 'hono/jsx'

type Absent = null | undefined | false | ''
export type FactRow = readonly [name: Child, value: Child] | Absent

const absent: readonly Child[] = [null, undefined, false, '']

/** Leaves out rows without a value. */
export function Facts({ rows, isLong = false }: { rows: readonly FactRow[]; isLong?: boolean }) {
  const present = rows.filter((row): row is readonly [Child, Child] => !!row && !absent.includes(row[1]))
  if (present.length === 0) return null
  return (
    <dl class={isLong ? 'facts long' : 'facts'}>
      {present.map(([name, value]) => (
        <div>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}
