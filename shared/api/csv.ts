import type { Context } from 'hono'
import { accepts } from 'hono/accepts'
import type { Page } from '../ledger/store/pages.ts'
import type { FaceEnv } from './accept-requests.ts'

export type Columns<Row> = Readonly<Record<string, (row: Row) => string | number>>

export const csvPage = 100

export const wantsCsv = <E extends FaceEnv>(c: Context<E>): boolean =>
  accepts(c, { header: 'Accept', supports: ['text/csv', 'application/json'], default: 'application/json' }) ===
  'text/csv'

/** Spreadsheets need this mark for UTF-8; programs would read it as part of the first name. */
const byteOrderMark = '\ufeff'
const isDownload = <E extends FaceEnv>(c: Context<E>): boolean => c.req.path.startsWith('/dashboard/')

/**
 * Reads the first page before it sends the status: a failing ledger is then a problem, not half a file. Escapes
 * formulas, because other people name projects.
 */
export async function answerCsv<E extends FaceEnv, Row>(
  c: Context<E>,
  name: string,
  columns: Columns<Row>,
  page: (cursor?: string) => Promise<Page<Row>>,
): Promise<Response> {
  const inTurn = (cursor?: string) => c.get('expensiveReads').inTurn(() => page(cursor))
  // Exports are rare, so this import must not delay a cold start.
  const [first, { stringify }] = await Promise.all([inTurn(), import('csv-stringify/sync')])
  // A custom record delimiter alone would turn off the quoting of line breaks.
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
