import type { Hono } from 'hono'
import { wantsCsv } from '../../../shared/api/csv.ts'
import {
  amountOf,
  answerStatementCsv,
  noWindow,
  perWhole,
  statementQuery,
  statementTexts,
} from '../../../shared/api/statements.ts'
import type { Statement, StatementRow } from '../../../shared/guard/reports/statements.ts'
import type { Services } from '../../../shared/guard/services.ts'
import { toRfc3339 } from '../../../shared/platform/clock.ts'
import { type ApiEnv, mustHave } from '../context.ts'
import { readQuery } from '../input.ts'
import type { Operation } from '../operation.ts'
import { route } from '../route.ts'

export function addStatements(app: Hono<ApiEnv>, { guard }: Services): void {
  route(app, '/statements', {
    GET: async (c) => {
      await mustHave(c, 'read')
      const { window, by, price } = readQuery(c, statementQuery)
      const isExport = wantsCsv(c)
      const reads = c.get('expensiveReads')
      if (isExport) reads.admit(c.get('caller').sub)
      const read = async () => (await guard.background()).statement(window ?? null, by)
      const statement = await (isExport ? reads.inTurn(read) : read())
      if (!statement) throw noWindow(window)
      return isExport ? answerStatementCsv(c, statement, price) : c.json(show(statement, price))
    },
  })
}

export const statementOperations: readonly Operation[] = [
  {
    ...{ method: 'GET', path: '/statements', id: 'statement', scopes: ['read'] },
    summary: 'Where the units of a month went',
    query: { schema: statementQuery, texts: statementTexts },
    example: '/statements?window=month:2026-11-01&by=project&price=0.012',
    answers: { 200: { description: 'Adds up to the book of the month', body: 'Statement', csv: true } },
    problems: [],
  },
]

function show(statement: Statement, price: bigint | undefined) {
  const { window, previous, next, status, by, rows, total, spent, addsUp } = statement
  const shown = (row: StatementRow) => {
    const { key, paidElsewhere, ...figures } = row
    const elsewhere = by === 'budget' && { paidElsewhere }
    return { [by]: key, ...figures, ...elsewhere, ...(price !== undefined && { amount: amountOf(row, price) }) }
  }
  const { key: _none, ...sums } = total
  return {
    window: window.name,
    start: toRfc3339(window.start),
    end: toRfc3339(window.end),
    status,
    by,
    ...(price !== undefined && { price: Number(price) / perWhole }),
    rows: rows.map(shown),
    total: { ...sums, ...(price !== undefined && { amount: amountOf(total, price) }) },
    book: { spent, addsUp },
    previous,
    next,
  }
}
