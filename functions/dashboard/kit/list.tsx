import type { Child } from 'hono/jsx'
import * as z from 'zod/mini'
import { ChoiceField, TextField } from '../components/fields.tsx'
import { Units } from '../components/parts.tsx'
import type { FieldFaults } from '../flash.ts'

interface NamedColumn<Row> {
  readonly name: string
  readonly class?: string
  /** Small, after or below the cell. */
  note?(row: Row): Child
}

interface CellColumn<Row> extends NamedColumn<Row> {
  /** Names its row. */
  readonly isHead?: boolean
  readonly isNumber?: boolean
  cell(row: Row): Child
}

interface UnitsColumn<Row> extends NamedColumn<Row> {
  units(row: Row): number | null | undefined
  /** In money. */
  cost?(row: Row): string | undefined
}

type Column<Row> = CellColumn<Row> | UnitsColumn<Row>

interface ListProps<Row> {
  readonly columns: readonly (Column<Row> | null)[]
  readonly rows: readonly Row[]
  /** For screen readers, where no caption says it. */
  readonly label?: string
  readonly caption?: Child
  /** Instead of a table without rows. */
  readonly empty?: Child
  readonly class?: string
  /** Within a section, which has a frame already. */
  readonly isInset?: boolean
  rowClass?(row: Row): string | undefined
  /** The last row: its head says `Total`. */
  readonly total?: Row
}

/** A table; the stylesheet makes each row a card on phones, with the names of the columns. */
export function List<Row>({ rows, label, caption, empty, isInset, total, ...props }: ListProps<Row>) {
  if (rows.length === 0 && empty !== undefined) return <p class="empty">{empty}</p>
  const columns = props.columns.filter((column) => column !== null)
  const line = (row: Row, isTotal = false) => (
    <tr class={props.rowClass?.(row)}>
      {columns.map((column) => (
        <Cell {...{ column, row, isTotal }} />
      ))}
    </tr>
  )
  return (
    <div class={isInset ? 'scroll' : 'wide'}>
      <table class={props.class ?? 'rows'} aria-label={label}>
        {caption === undefined ? null : <caption>{caption}</caption>}
        <thead>
          <tr>
            {columns.map((column) => (
              <th scope="col" class={isNumber(column) ? 'number' : undefined}>
                {column.name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{rows.map((row) => line(row))}</tbody>
        {total === undefined ? null : <tfoot>{line(total, true)}</tfoot>}
      </table>
    </div>
  )
}

const isNumber = <Row,>(column: Column<Row>): boolean => 'units' in column || column.isNumber === true

function Cell<Row>({ column, row, isTotal }: { column: Column<Row>; row: Row; isTotal: boolean }) {
  const { name } = column
  const classes = [isNumber(column) && 'number', column.class].filter(Boolean).join(' ') || undefined
  if ('cell' in column && column.isHead)
    return (
      <th scope="row" class={classes}>
        {isTotal ? 'Total' : <CellContent column={column} row={row} />}
      </th>
    )
  return (
    <td data-name={name} class={classes}>
      <CellContent column={column} row={row} />
    </td>
  )
}

function CellContent<Row>({ column, row }: { column: Column<Row>; row: Row }) {
  const note = column.note?.(row)
  return (
    <>
      {'units' in column ? <Units units={column.units(row)} cost={column.cost?.(row)} /> : column.cell(row)}
      {note ? <span class="note">{note}</span> : null}
    </>
  )
}

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
