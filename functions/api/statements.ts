import type { Context, Hono } from 'hono'
import * as z from 'zod/mini'
import type { Services } from '../../shared/guard/services.ts'
import { type Statement, type StatementRow, type StatementSum, statementKeys } from '../../shared/guard/statements.ts'
import { toRfc3339 } from '../../shared/platform/clock.ts'
import { type ApiEnv, mustHave } from './context.ts'
import { answerCsv, type Columns, wantsCsv } from './csv.ts'
import { monthWindow, readQuery } from './input.ts'
import { invalid, type Refusal } from './refusal.ts'
import { route } from './routing.ts'

/** Prices are counted in millionths, so that no sum is rounded before its end. */
const perWhole = 1_000_000

const price = z.pipe(
  z.string().check(z.regex(/^\d{1,6}(\.\d{1,6})?$/, 'takes a price for one unit, such as 0.012')),
  z.transform((text) => BigInt(Math.round(Number(text) * perWhole))),
)

export const statementKey = z.enum(statementKeys, `takes one of ${statementKeys.join(', ')}`)

export const statementQuery = z.strictObject({
  window: z.exactOptional(monthWindow),
  by: z._default(statementKey, 'budget'),
  price: z.exactOptional(price),
})

/** Contract, "Resources": `GET /statements`. */
export function addStatements(app: Hono<ApiEnv>, { guard }: Services): void {
  route(app, '/statements', {
    GET: async (c) => {
      await mustHave(c, 'read')
      const { window, by, price } = readQuery(c, statementQuery)
      const isExport = wantsCsv(c)
      const reads = c.get('expensiveReads')
      if (isExport) reads.admit(c)
      const read = () => guard.statement(window ?? null, by)
      const statement = await (isExport ? reads.inTurn(read) : read())
      if (!statement) throw noWindow(window)
      return isExport ? answerStatementCsv(c, statement, price) : c.json(show(statement, price))
    },
  })
}

export const noWindow = (window: string | undefined): Refusal =>
  invalid([{ path: 'window', message: `there is no window ${window} yet` }])

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

/** What was paid for, charged and spent outside, to the cent; half a cent counts as one. */
export function amountOf({ charged, external }: StatementSum, price: bigint): number {
  const units = charged + external
  const cents = (BigInt(Math.abs(units)) * price + 5_000n) / 10_000n
  return (Math.sign(units) * Number(cents)) / 100
}

export function answerStatementCsv(
  c: Context<ApiEnv>,
  statement: Statement,
  price: bigint | undefined,
): Promise<Response> {
  const columns: Columns<StatementRow> = {
    window: () => statement.window.name,
    status: () => statement.status,
    [statement.by]: ({ key }) => key ?? '',
    updates: ({ updates }) => updates,
    charged: ({ charged }) => charged,
    external: ({ external }) => external,
    granted: ({ granted }) => granted,
    held: ({ held }) => held,
    inDoubt: ({ inDoubt }) => inDoubt,
    refused: ({ refused }) => refused,
    ...(price !== undefined && { amount: (row: StatementRow) => amountOf(row, price) }),
    // The last one, so that all others stay where they were.
    ...(statement.by === 'budget' && { paidElsewhere: ({ paidElsewhere }: StatementRow) => paidElsewhere }),
  }
  return answerCsv(c, `statement-${statement.window.name.replace(':', '-')}`, columns, async () => ({
    rows: statement.rows,
  }))
}
