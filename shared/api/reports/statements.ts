import type { Context } from 'hono'
import * as z from 'zod/mini'
import { atPrice, costOf, inWhole, pricePerUnit } from '../../guard/money.ts'
import { figuresOverLimits, type StatementFigure, statementFigures, statementKeys } from '../../platform/words.ts'
import type { StatementRow, StatementSum } from '../../reports/statements/statement-rows.ts'
import type { Statement } from '../../reports/statements/statements.ts'
import type { FaceEnv } from '../accept-requests.ts'
import { answerCsv, type Columns } from '../csv.ts'
import { monthWindow, type Texts } from '../schemas.ts'

const takesKey = `must be one of ${statementKeys.join(', ')}, or a tag such as tag:client`
const byTag = z.pipe(
  z.string().check(z.regex(/^tag:[a-z][a-z0-9_.-]{0,31}$/)),
  z.transform((text) => text as `tag:${string}`),
)

const statementKey = z.union([z.enum(statementKeys), byTag], takesKey)

export const statementQuery = z.strictObject({
  window: z.exactOptional(monthWindow),
  by: z._default(statementKey, 'budget'),
  price: z.exactOptional(pricePerUnit),
})

export const statementTexts: Texts = {
  by: 'What a row is: `budget`, `project`, `caller`, or the value of a tag, as in `tag:client`.',
  price:
    'The price of one unit: up to six decimals, with a point or a comma. It adds `amount`, rounded to the cent in each row and in the total.',
}

/** @param price From the request, not from the settings. */
export const amountOf = ({ charged, external }: StatementSum, perUnit: bigint): number =>
  costOf(atPrice({ perUnit }, charged + external))

/** The configured prices at which the sum has units, with the first day of each price. */
export const pricesOf = ({ atPrices }: StatementSum) =>
  [...atPrices]
    .map(([price, units]) => ({
      ...(price.from !== undefined && { from: price.from }),
      perUnit: inWhole(price),
      units,
    }))
    .toSorted((a, b) => ((a.from ?? '') < (b.from ?? '') ? -1 : 1))

const columnsOf = (names: readonly StatementFigure[]): Columns<StatementRow> =>
  Object.fromEntries(names.map((name) => [name, (row: StatementRow) => row[name]]))

export function answerStatementCsv<E extends FaceEnv>(
  c: Context<E>,
  statement: Statement,
  price: bigint | undefined,
): Promise<Response> {
  const columns: Columns<StatementRow> = {
    window: () => statement.window.name,
    status: () => statement.status,
    [statement.by]: ({ key }) => key ?? '',
    ...columnsOf(statementFigures),
    ...(price !== undefined && { amount: (row: StatementRow) => amountOf(row, price) }),
    ...(statement.by === 'budget' && { paidElsewhere: ({ paidElsewhere }: StatementRow) => paidElsewhere }),
    ...(statement.currency !== null && {
      cost: ({ atPrices }: StatementRow) => costOf(atPrices),
      currency: () => statement.currency ?? '',
      prices: (row: StatementRow) =>
        pricesOf(row)
          .map(({ perUnit }) => perUnit)
          .join(' '),
    }),
    ...columnsOf(figuresOverLimits),
  }
  return answerCsv(c, `statement-${statement.window.name.replace(':', '-')}`, columns, async () => ({
    rows: statement.rows,
  }))
}
