import type { Hono } from 'hono'
import { wantsCsv } from '../../../../shared/api/csv.ts'
import {
  amountOf,
  answerStatementCsv,
  pricesOf,
  statementQuery,
  statementTexts,
} from '../../../../shared/api/reports/statements.ts'
import { defined, type Shown } from '../../../../shared/api/shown.ts'
import { timeIfAny } from '../../../../shared/api/to-json.ts'
import { noWindow } from '../../../../shared/api/windows.ts'
import { costOf, perWhole } from '../../../../shared/guard/money.ts'
import { toRfc3339 } from '../../../../shared/platform/clock.ts'
import { tagKeyIn } from '../../../../shared/platform/words.ts'
import { reportsOf } from '../../../../shared/reports/reports.ts'
import type { StatementRow, StatementSum } from '../../../../shared/reports/statements/statement-rows.ts'
import type { Statement } from '../../../../shared/reports/statements/statements.ts'
import { type ApiEnv, mustHave } from '../../context.ts'
import { readQuery } from '../../input.ts'
import type { Operation } from '../../operation.ts'
import { route } from '../../route.ts'

export function addStatements(app: Hono<ApiEnv>): void {
  route(app, '/statements', {
    GET: async (c) => {
      const { guard } = await mustHave(c, 'read')
      const { window, by, price } = readQuery(c, statementQuery)
      const isExport = wantsCsv(c)
      const reads = c.get('expensiveReads')
      if (isExport) reads.admit(c.get('caller').sub)
      const reports = await reportsOf(guard)
      const read = () => reports.statement(window ?? null, by)
      const statement = await (isExport ? reads.inTurn(read) : read())
      if (!statement) throw noWindow(await guard.ledger.view(), window ?? '')
      return isExport ? answerStatementCsv(c, statement, price) : c.json(show(statement, price))
    },
  })
}

export const statementOperations: readonly Operation[] = [
  {
    method: 'GET',
    path: '/statements',
    id: 'getStatement',
    scopes: ['read'],
    summary: 'Returns the statement of a month: where its units went',
    query: { schema: statementQuery, texts: statementTexts },
    example: '/statements?window=month:2026-11-01&by=project&price=0.012',
    answers: {
      200: { description: 'The statement; its sums equal the book of the month', body: 'Statement', csv: true },
    },
    problems: [],
  },
]

const maxNotFinal = 100

type Money = Pick<Shown<'Statement'>['total'], 'amount' | 'cost'>

function show(statement: Statement, price: bigint | undefined): Shown<'Statement'> {
  const { window, previous, next, status, notFinal, correctedAt, by, tagKeys, rows, total, spent, addsUp, currency } =
    statement
  const moneyOf = (sum: StatementSum) =>
    defined<Money>({
      amount: price === undefined ? undefined : amountOf(sum, price),
      cost: currency === null ? undefined : costOf(sum.atPrices),
    })
  const shown = (row: StatementRow) => {
    const { key, claimedPerson: _claimed, listedNow: _now, paidElsewhere, atPrices: _prices, ...figures } = row
    const elsewhere = by === 'budget' && { paidElsewhere }
    return { [tagKeyIn(by) === null ? by : 'tag']: key, ...figures, ...elsewhere, ...moneyOf(row) }
  }
  const { key: _none, atPrices: _prices, ...sums } = total
  return defined({
    window: window.name,
    start: toRfc3339(window.start),
    end: toRfc3339(window.end),
    status,
    notFinal: notFinal.updates.slice(0, maxNotFinal).map(({ id, project, state, hold }) => ({
      update: id,
      project,
      state,
      units: hold.units,
    })),
    correctedAt: timeIfAny(correctedAt),
    by,
    tagKeys,
    price: price === undefined ? undefined : Number(price) / perWhole,
    prices: currency === null ? undefined : pricesOf(total),
    currency: currency ?? undefined,
    rows: rows.map(shown),
    total: { ...sums, ...moneyOf(total) },
    book: { spent, addsUp },
    previous,
    next,
  })
}
