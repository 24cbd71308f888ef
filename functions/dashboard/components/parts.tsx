import type { Child } from 'hono/jsx'
import { count, onTheWall } from '../../../shared/guard/sentences.ts'
import type { State } from '../../../shared/ledger/updates/update.ts'
import { toRfc3339 } from '../../../shared/platform/clock.ts'

/** The small things that all pages show. */

/** A time of the account, without its date where that is said; pointing at it shows UTC. */
export const Time = ({ at, zone, isOfDay }: { at: number; zone: string; isOfDay?: true }) => (
  <time datetime={toRfc3339(at)} title={`${toRfc3339(at).slice(0, 16).replace('T', ' ')} UTC`}>
    {isOfDay ? onTheWall(at, zone).slice(-'00:00'.length) : onTheWall(at, zone)}
  </time>
)

/** `1 Nov 2026`, of a day as the ledger and the service name it: `2026-11-01`. */
export const dayNamed = (name: string): string => onTheWall(Date.parse(name), 'UTC').slice(0, -' 00:00'.length)

export const InZone = ({ zone }: { zone: string }) => (
  <p class="note">
    {zone === 'UTC'
      ? 'All times are in UTC.'
      : `All times are in ${zone}, the time zone of the account; pointing at one shows UTC.`}
  </p>
)

/** So that colour is not all there is. */
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

/** `schedule:morning` may end a line behind its colon before it does so anywhere else. */
export const CallerName = ({ of }: { of: string }) =>
  of.split(/(?<=:)/).map((part, index) => (
    <>
      {index > 0 ? <wbr /> : null}
      {part}
    </>
  ))

/** Names and what belongs to them. */
export const Facts = ({ long = false, children }: { long?: boolean; children: Child }) => (
  <dl class={long ? 'facts long' : 'facts'}>{children}</dl>
)

export const Fact = ({ name, children }: { name: Child; children: Child }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
)

export const addressOf = (id: string): string => `/dashboard/updates/${encodeURIComponent(id)}`

/** @param more a page below it. */
export const budgetAddress = (name: string, more = ''): string =>
  `/dashboard/budgets/${encodeURIComponent(name)}${more}`

export const planAddress = (name: string): string => `/dashboard/plans/${encodeURIComponent(name)}`

export const callersAddress = '/dashboard/callers'

/** @param sub a name has any characters, so it does not stand in a path; absent: for a caller yet to be named. */
export const callerAddress = (sub?: string): string =>
  `${callersAddress}/edit${sub === undefined ? '' : `?sub=${encodeURIComponent(sub)}`}`
