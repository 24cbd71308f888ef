import type { Child } from 'hono/jsx'
import * as z from 'zod/mini'
import type { FieldFaults } from '../flash.ts'
import { isEmpty } from '../forms.ts'
import { Units } from './parts.tsx'

interface NamedColumn<Row> {
  readonly name: string
  readonly class?: string
  /** Small text after or below the cell. */
  note?(row: Row): Child
}

interface CellColumn<Row> extends NamedColumn<Row> {
  /** The cell is the heading of its row. */
  readonly isHead?: boolean
  readonly isNumber?: boolean
  cell(row: Row): Child
}

interface UnitsColumn<Row> extends NamedColumn<Row> {
  units(row: Row): number | null | undefined
  /** The cost of the units. */
  cost?(row: Row): string | undefined
}

type Column<Row> = CellColumn<Row> | UnitsColumn<Row>

interface ListProps<Row> {
  readonly columns: readonly (Column<Row> | null)[]
  readonly rows: readonly Row[]
  /** For screen readers, if there is no caption. */
  readonly label?: string
  readonly caption?: Child
  /** Shown if the list has no rows. */
  readonly empty?: Child
  readonly class?: string
  /** Set for a list in a section, because the section already has a frame. */
  readonly isInset?: boolean
  rowClass?(row: Row): string | undefined
  /** The last row, with the heading `Total`. */
  readonly total?: Row
  /** Absent if `rows` holds all rows. */
  readonly page?: PageOfList
}

export interface PageOfList {
  readonly path: string
  readonly filters: Query
  readonly paging: Paging
  readonly next: string | undefined
  /** If a filter has a fault, nothing is listed, because the other filters alone would match other rows. */
  readonly faults: FieldFaults
}

/** A table. On phones the stylesheet makes each row a card with the names of the columns. */
export function List<Row>({ page, ...list }: ListProps<Row>) {
  if (!page) return <Rows {...list} />
  if (!isEmpty(page.faults)) return <p class="empty">Nothing is listed. Please correct the marked filter.</p>
  const isEnd = page.next === undefined
  return (
    <>
      <Rows {...list} empty={isEnd ? list.empty : 'No matches so far. “Older” searches further back.'} />
      <PageLinks {...page} />
    </>
  )
}

function Rows<Row>({ rows, label, caption, empty, isInset, total, ...props }: ListProps<Row>) {
  if (rows.length === 0 && empty !== undefined) return <p class="empty">{empty}</p>
  const columns = props.columns.filter((column) => column !== null)
  const line = (row: Row, isTotal = false) => (
    <tr class={props.rowClass?.(row)}>
      {columns.map((column) => (
        <Cell column={column} row={row} isTotal={isTotal} />
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
  const isZero = 'units' in column && column.units(row) === 0
  const classes = [isNumber(column) && 'number', isZero && 'zero', column.class].filter(Boolean).join(' ') || undefined
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
export type Paging = z.output<typeof pagingSchema>

export type Query = Readonly<Record<string, string | undefined>>

/** Longer trails would not fit into an address. */
const maxTrailLength = 8

const cursorSchema = z.string().check(z.maxLength(4_000, 'must have at most 4,000 characters'))
export const pagingSchema = z.object({ cursor: z.exactOptional(cursorSchema), trail: z.exactOptional(cursorSchema) })

function PageLinks({ path, filters, next, paging: { cursor, trail } }: PageOfList) {
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

interface ChipsProps {
  readonly label: string
  readonly path: string
  readonly filters: Query
  /** The filter that a chip sets. */
  readonly name: string
  readonly chosen: string | undefined
  readonly of: readonly (readonly [value: string | undefined, text: string])[]
}

export const Chips = ({ label, path, filters, name, chosen, of }: ChipsProps) => (
  <nav aria-label={label} class="chips">
    {of.map(([value, text]) => (
      <a href={addressWith(path, { ...filters, [name]: value })} aria-current={value === chosen ? 'true' : undefined}>
        {text}
      </a>
    ))}
  </nav>
)
