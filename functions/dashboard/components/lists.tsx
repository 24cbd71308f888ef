import * as z from 'zod/mini'
import { onTheWall, zoneOf } from '../../../shared/guard/sentences.ts'
import { monthBefore, monthNamed, type Window } from '../../../shared/ledger/book/windows.ts'
import type { View } from '../../../shared/ledger/views/views.ts'

/** Lists are read from their newest end, so the way back is the cursors passed so far. */
export interface Paging {
  /** Where this page begins; absent for the newest. */
  readonly cursor?: string | undefined
  /** The cursors of the pages between the newest and this one, the nearest last. */
  readonly trail?: string | undefined
}

type Query = Readonly<Record<string, string | undefined>>

/** More would not fit into an address; readers who go further start again. */
const maxTrailLength = 8

const cursors = z.string().check(z.maxLength(4_000, 'must have at most 4,000 characters'))
export const pagingFields = { cursor: z.exactOptional(cursors), trail: z.exactOptional(cursors) }

/** @param asked the filters, which every link keeps. */
export function Pages(of: { path: string; asked: Query; paging: Paging; next: string | undefined }) {
  const { path, asked, next } = of
  const { cursor, trail } = of.paging
  const passed = trail?.split('.') ?? []
  const older = [...passed, ...(cursor === undefined ? [] : [cursor])].slice(-maxTrailLength)
  const newer = { ...asked, cursor: passed.at(-1), trail: joined(passed.slice(0, -1)) }
  return (
    <nav aria-label="Pages" class="pages">
      {cursor === undefined ? null : (
        <>
          <a href={addressWith(path, asked)}>Newest</a>
          <a href={addressWith(path, newer)} rel="prev">
            Newer
          </a>
        </>
      )}
      {next === undefined ? null : (
        <a href={addressWith(path, { ...asked, cursor: next, trail: joined(older) })} rel="next">
          Older
        </a>
      )}
      <a href={addressWith(`${path}.csv`, asked)} download>
        Download all as CSV
      </a>
    </nav>
  )
}

const joined = (trail: readonly string[]) => (trail.length === 0 ? undefined : trail.join('.'))

export function addressWith(path: string, query: Query): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined)
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`
}

interface ChoiceProps {
  readonly name: string
  readonly label: string
  readonly options: readonly string[]
  readonly chosen: string | undefined
  /** The words of the empty option. */
  readonly none?: string
  readonly say?: (option: string) => string
}

/** A filter. A chosen option that no longer exists stays in the list. */
export function Choice({ name, label, options, chosen, none = 'any', say = (option) => option }: ChoiceProps) {
  const isGone = chosen !== undefined && !options.includes(chosen)
  return (
    <p>
      <label for={name}>{label}</label>
      <select id={name} name={name}>
        <option value="">{none}</option>
        {[...options, ...(isGone ? [chosen] : [])].map((option) => (
          <option value={option} selected={option === chosen}>
            {say(option)}
          </option>
        ))}
      </select>
    </p>
  )
}

export const Text = (of: { name: string; label: string; value: string | undefined; type?: 'text' | 'date' }) => (
  <p>
    <label for={of.name}>{of.label}</label>
    <input id={of.name} name={of.name} type={of.type ?? 'text'} value={of.value ?? ''} autocomplete="off" />
  </p>
)

/** Updates and entries are kept for 26 months. */
const maxMonths = 26

/** From the open month back to the ledger's first. */
function monthsOf({ definitions, month }: View): readonly Window[] {
  const months = [month]
  for (let oldest = month; oldest.start > definitions.createdAt && months.length < maxMonths; ) {
    oldest = monthBefore(definitions.calendar, oldest)
    months.push(oldest)
  }
  return months
}

export function MonthChoice({ view, chosen }: { view: View; chosen: string }) {
  const months = monthsOf(view)
  const other = months.some(({ name }) => name === chosen) ? null : monthNamed(view.definitions.calendar, chosen)
  return (
    <p>
      <label for="window">Month from</label>
      <select id="window" name="window">
        {[...months, ...(other ? [other] : [])].map((month) => (
          <option value={month.name} selected={month.name === chosen}>
            {onTheWall(month.start, zoneOf(view)).replace(/ 00:00$/, '')}
            {month.name === view.month.name ? ' (open)' : null}
          </option>
        ))}
      </select>
    </p>
  )
}
