import type { Child } from 'hono/jsx'
import { count, onTheWall } from '../../../shared/guard/sentences.ts'
import type { State } from '../../../shared/ledger/updates/update.ts'
import { toRfc3339 } from '../../../shared/platform/clock.ts'

/** A time in the account's zone; the tooltip shows UTC. `isOfDay` leaves the date out. */
export const Time = ({ at, zone, isOfDay }: { at: number; zone: string; isOfDay?: true }) => (
  <time datetime={toRfc3339(at)} title={`${toRfc3339(at).slice(0, 16).replace('T', ' ')} UTC`}>
    {isOfDay ? onTheWall(at, zone).slice(-'00:00'.length) : onTheWall(at, zone)}
  </time>
)

/** `1 Nov 2026` for the day `2026-11-01`. */
export const dayNamed = (name: string): string => onTheWall(Date.parse(name), 'UTC').slice(0, -' 00:00'.length)

export const InZone = ({ zone }: { zone: string }) => (
  <p class="note">
    {zone === 'UTC'
      ? 'All times are in UTC.'
      : `All times are in ${zone}, the time zone of the account; pointing at one shows UTC.`}
  </p>
)

/** A part of a page under a heading that assistive technology can jump to. */
export const Section = (of: { id: string; title: Child; class?: string; isHidden?: boolean; children: Child }) => (
  <section aria-labelledby={of.id} class={of.class}>
    <h2 id={of.id} class={of.isHidden ? 'hidden' : undefined}>
      {of.title}
    </h2>
    {of.children}
  </section>
)

/** The pages above this one, and this one last. */
export const Trail = (of: {
  label: string
  above: readonly (readonly [name: string, path: string])[]
  here: string
}) => (
  <nav aria-label={of.label} class="chain">
    <ol>
      {of.above.map(([name, path]) => (
        <li>
          <a href={path}>{name}</a>
        </li>
      ))}
      <li>
        <span aria-current="page">{of.here}</span>
      </li>
    </ol>
  </nav>
)

/** Signs, because colour alone does not reach everyone. */
const signs: Readonly<Record<State, string>> = {
  'awaiting-approval': '!',
  requested: '◔',
  running: '▶',
  'in-doubt': '?',
  settled: '✓',
  released: '↩',
  refused: '✕',
  rejected: '✕',
  cancelled: '✕',
  expired: '⌛︎',
}

export const StateName = ({ of }: { of: State }) => (
  <span class={`state ${of}`}>
    <span aria-hidden="true">{signs[of]}</span> {words(of)}
  </span>
)

export const words = (name: string): string => name.replaceAll('-', ' ')

export const Units = ({ of }: { of: number | null | undefined }) => (
  <span class={of == null ? 'unknown' : 'units'}>{of == null ? '–' : count(of)}</span>
)

/** The head of a table; see `numbers` for columns of figures. */
export const Heads = ({ of }: { of: readonly (string | { readonly number: string })[] }) => (
  <thead>
    <tr>
      {of.map((column) =>
        typeof column === 'string' ? (
          <th scope="col">{column}</th>
        ) : (
          <th scope="col" class="number">
            {column.number}
          </th>
        ),
      )}
    </tr>
  </thead>
)

export const numbers = (...names: readonly string[]) => names.map((number) => ({ number }))

export const UnitsCell = ({ name, of }: { name: string; of: number | null | undefined }) => (
  <td data-name={name} class="number">
    <Units of={of} />
  </td>
)

/** Names with their values. */
export const Facts = ({ long = false, children }: { long?: boolean; children: Child }) => (
  <dl class={long ? 'facts long' : 'facts'}>{children}</dl>
)

export const Fact = ({ name, children }: { name: Child; children: Child }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
)

export const UnitsFact = ({ name, of }: { name: Child; of: number | null | undefined }) => (
  <Fact name={name}>
    <Units of={of} />
  </Fact>
)

export const updateAddress = (id: string): string => `/dashboard/updates/${encodeURIComponent(id)}`

/** @param more a page below it. */
export const budgetAddress = (name: string, more = ''): string =>
  `/dashboard/budgets/${encodeURIComponent(name)}${more}`

export const planAddress = (name: string): string => `/dashboard/plans/${encodeURIComponent(name)}`

export const callersAddress = '/dashboard/callers'

/** @param sub stands in the query, because it may hold any characters; absent for a caller to be named. */
export const callerAddress = (sub?: string): string =>
  `${callersAddress}/edit${sub === undefined ? '' : `?sub=${encodeURIComponent(sub)}`}`
