import type { Context } from 'hono'
import * as z from 'zod/mini'
import type { Statement, StatementRow, StatementSum } from '../guard/reports/statements.ts'
import { statementKeys } from '../platform/words.ts'
import { answerCsv, type Columns } from './csv.ts'
import type { FaceEnv } from './face.ts'
import { invalid, type Refusal } from './refusal.ts'
import { monthWindow, type Texts } from './schemas.ts'

/** Prices are in millionths, so that no sum is rounded early. */
export const perWhole = 1_000_000

const price = z.pipe(
  z.string().check(z.regex(/^\d{1,6}(\.\d{1,6})?$/, 'must be a price for one unit, such as 0.012')),
  z.transform((text) => BigInt(Math.round(Number(text) * perWhole))),
)

export const statementKey = z.enum(statementKeys, `must be one of ${statementKeys.join(', ')}`)

export const statementQuery = z.strictObject({
  window: z.exactOptional(monthWindow),
  by: z._default(statementKey, 'budget'),
  price: z.exactOptional(price),
})

export const statementTexts: Texts = {
  by: 'What a row is.',
  price: 'For one unit, up to six decimals; adds `amount`, rounded to the cent in each row and in the total.',
}

export const noWindow = (window: string | undefined): Refusal =>
  invalid([{ path: 'window', message: `there is no window ${window} yet` }])

/** The price of charged and external units, rounded to the cent; half a cent rounds up. */
export function amountOf({ charged, external }: StatementSum, price: bigint): number {
  const units = charged + external
  const cents = (BigInt(Math.abs(units)) * price + 5_000n) / 10_000n
  return (Math.sign(units) * Number(cents)) / 100
}

export function answerStatementCsv<E extends FaceEnv>(
  c: Context<E>,
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
    // This column comes last, so that the other columns keep their places.
    ...(statement.by === 'budget' && { paidElsewhere: ({ paidElsewhere }: StatementRow) => paidElsewhere }),
  }
  return answerCsv(c, `statement-${statement.window.name.replace(':', '-')}`, columns, async () => ({
    rows: statement.rows,
  }))
}
