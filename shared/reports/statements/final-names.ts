import { type Definitions, nameWhenRequested, projectName } from '../../ledger/definitions/definitions.ts'
import type { FigureRow } from '../figures.ts'

/** A project that was renamed later keeps the name that its last update of the month had. */
export function withFinalNames<Row extends { readonly key: string | null }>(
  rows: readonly Row[],
  definitions: Definitions,
  figures: readonly FigureRow[],
): readonly (Row & { readonly listedNow?: string })[] {
  const inOrder = figures.toSorted((a, b) => ((a.heldOn ?? '') < (b.heldOn ?? '') ? -1 : 1))
  const names = new Map(
    inOrder.map((row) => {
      const now = projectName(definitions, row)
      return [now, row.listed ? nameWhenRequested(row) : now]
    }),
  )
  return rows.map((row) => {
    const { key } = row
    const then = key === null ? undefined : names.get(key)
    return key === null || then === undefined || then === key ? row : { ...row, key: then, listedNow: key }
  })
}
