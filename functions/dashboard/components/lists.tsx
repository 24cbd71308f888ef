import * as z from 'zod/mini'

/** A cursor leads only to older rows, so links to newer pages need the cursors of the earlier pages. */
export interface Paging {
  /** Absent on the newest page. */
  readonly cursor?: string | undefined
  /** The cursors of the pages between the newest page and this one. */
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

interface ChoiceProps {
  readonly name: string
  readonly label: string
  readonly options: readonly string[]
  readonly value: string | undefined
  readonly emptyLabel?: string
  readonly labelOf?: (option: string) => string
}

/** A filter. Its value stays in the list even if the option no longer exists. */
export function SelectField({
  name,
  label,
  options,
  value,
  emptyLabel = 'any',
  labelOf = (option) => option,
}: ChoiceProps) {
  const isGone = value !== undefined && !options.includes(value)
  return (
    <p>
      <label for={name}>{label}</label>
      <select id={name} name={name}>
        <option value="">{emptyLabel}</option>
        {[...options, ...(isGone ? [value] : [])].map((option) => (
          <option value={option} selected={option === value}>
            {labelOf(option)}
          </option>
        ))}
      </select>
    </p>
  )
}

export const FilterField = (props: {
  name: string
  label: string
  value: string | undefined
  type?: 'text' | 'date'
}) => (
  <p>
    <label for={props.name}>{props.label}</label>
    <input id={props.name} name={props.name} type={props.type ?? 'text'} value={props.value ?? ''} autocomplete="off" />
  </p>
)
