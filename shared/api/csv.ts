import type { Context } from 'hono'
import { accepts } from 'hono/accepts'
import type { Page } from '../ledger/views/pages.ts'
import type { FaceEnv } from './face.ts'

/** One column for each member, in this order: its name, and what stands in a row. */
export type Columns<Row> = Readonly<Record<string, (row: Row) => string | number>>

/** How many rows are read at a time. */
export const csvPage = 100

export const wantsCsv = <E extends FaceEnv>(c: Context<E>): boolean =>
  accepts(c, { header: 'Accept', supports: ['text/csv', 'application/json'], default: 'application/json' }) ===
  'text/csv'

/**
 * A download from a page is opened in a spreadsheet, which takes text without this mark for the encoding of its
 * machine. A program that asks for CSV gets no mark: it would be part of the first name.
 */
const byteOrderMark = '\ufeff'
const isDownload = <E extends FaceEnv>(c: Context<E>): boolean => c.req.path.startsWith('/dashboard/')

/**
 * All rows as CSV (RFC 4180) for a caller who was admitted to an expensive read, written while they are read; the first page is read before there is a status, so that a
 * ledger which does not answer is a problem and not half a file. Cells that a spreadsheet would take for a formula
 * are escaped: projects are named by others.
 */
export async function answerCsv<E extends FaceEnv, Row>(
  c: Context<E>,
  name: string,
  columns: Columns<Row>,
  page: (cursor?: string) => Promise<Page<Row>>,
): Promise<Response> {
  const inTurn = (cursor?: string) => c.get('expensiveReads').inTurn(() => page(cursor))
  // Few ask for CSV, and no cold start pays for it.
  const [first, { stringify }] = await Promise.all([inTurn(), import('csv-stringify/sync')])
  // A record delimiter of one's own turns the quoting of line breaks off, and a line break in a reason begins a row.
  const style = { escape_formulas: true, record_delimiter: 'windows', quote_record_delimiter: true } as const
  const line = (cells: readonly (string | number)[]) => stringify([[...cells]], style)
  async function* lines() {
    if (isDownload(c)) yield byteOrderMark
    yield line(Object.keys(columns))
    for (let read = first; ; read = await inTurn(read.next)) {
      for (const row of read.rows) yield line(Object.values(columns).map((cell) => cell(row)))
      if (read.next === undefined) return
    }
  }
  const body = ReadableStream.from(lines()).pipeThrough(new TextEncoderStream())
  return c.body(body, 200, {
    'content-type': 'text/csv; charset=utf-8',
    'content-disposition': `attachment; filename="${name}.csv"`,
  })
}
