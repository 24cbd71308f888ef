import * as z from 'zod/mini'
import type { FieldFaults } from '../flash.ts'
import { ChoiceField, TextField } from './fields.tsx'

/** A cursor leads only to older rows, so the way back needs all earlier cursors. */
export interface Paging {
  readonly cursor?: string | undefined
  readonly trail?: string | undefined
}

type Query = Readonly<Record<string, string | undefined>>

/** Longer trails would not fit into an address. */
const maxTrailLength = 8

const cursorSchema = z.string().check(z.maxLength(4_000, 'must have at most 4,000 characters'))
export const pagingFields = { cursor: z.exactOptional(cursorSchema), trail: z.exactOptional(cursorSchema) }

export function PageLinks(props: { path: string; filters: Query; paging: Paging; next: string | undefined }) {
  const { path, filters, next } = props
  const { cursor, trail } = props.paging
  const cursors = trail?.split('.') ?? []
  const older = [...cursors, ...(cursor === undefined ? [] : [cursor])].slice(-maxTrailLength)
  const newer = { ...filters, cursor: cursors.at(-1), trail: trailText(cursors.slice(0, -1)) }
  return (
    <nav aria-label="Pages" class="pages">
      {cursor === undefined ? null : (
        <>
          <a href={addressWith(path, filters)}>Newest</a>
          <a href={addressWith(path, newer)} rel="prev">
            Newer
          </a>
        </>
      )}
      {next === undefined ? null : (
        <a href={addressWith(path, { ...filters, cursor: next, trail: trailText(older) })} rel="next">
          Older
        </a>
      )}
    </nav>
  )
}

const trailText = (trail: readonly string[]) => (trail.length === 0 ? undefined : trail.join('.'))

export function addressWith(path: string, query: Query): string {
  const present = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined)
  return present.length === 0 ? path : `${path}?${new URLSearchParams(present)}`
}

interface FilterProps {
  readonly name: string
  readonly label: string
  readonly value: string | undefined
  readonly faults: FieldFaults
}

/** Its value stays in the list even if the option no longer exists. */
export function SelectField({ options, value, ...field }: FilterProps & { options: readonly string[] }) {
  const all = [...options, ...(value !== undefined && value !== '' && !options.includes(value) ? [value] : [])]
  const choices = [['', 'any'] as const, ...all.map((option) => [option, option] as const)]
  return <ChoiceField formId="filter" {...field} value={value} options={choices} />
}

export const FilterField = (field: FilterProps & { type?: 'text' | 'date' }) => <TextField formId="filter" {...field} />

/** Instead of a list: with a part of the filters it would answer another question. */
export const FaultyFilters = () => <p class="empty">Nothing is listed. Please correct the marked filter.</p>
