import { addAtPrices, type UnitsAtPrices } from '../../guard/money.ts'
import { figuresOverLimits, type StatementFigure, statementFigures } from '../../platform/words.ts'

export const sums = [...statementFigures, ...figuresOverLimits, 'paidElsewhere'] as const

export interface StatementSum extends Readonly<Record<StatementFigure, number>> {
  /** `null`: spent outside the guard, or updates without the tag. */
  readonly key: string | null
  /** The cost of `charged` and `external`. Units before the first price are left out. */
  readonly atPrices: UnitsAtPrices
}

export interface StatementRow extends StatementSum {
  /** The project's present name, if the statement was final with another one. */
  readonly listedNow?: string
  readonly claimedPerson?: string
  /** Units that ancestors paid for this budget's projects. The ancestors' rows count these units, totals do not. */
  readonly paidElsewhere: number
}

export const emptyRow = (key: string | null): StatementRow => ({
  ...(Object.fromEntries(sums.map((name) => [name, 0])) as Record<(typeof sums)[number], number>),
  key,
  atPrices: new Map(),
})

export const sumOfRows = (a: StatementRow, b: Partial<StatementRow>): StatementRow => ({
  ...a,
  ...Object.fromEntries(sums.map((name) => [name, a[name] + (b[name] ?? 0)])),
  ...(b.claimedPerson !== undefined && { claimedPerson: b.claimedPerson }),
  ...(b.listedNow !== undefined && { listedNow: b.listedNow }),
  ...(b.atPrices && { atPrices: addAtPrices(a.atPrices, b.atPrices) }),
})
