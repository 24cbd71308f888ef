import { readFileSync } from 'node:fs'
import type { Bill } from './bill.ts'

const measuredIn = new URL('../../docs/performance.md', import.meta.url)

/** What a route or a job asks of DynamoDB, as `npm run bench -- requests` counted it. */
export interface Asked {
  readonly readUnits: number
  /** Two for each kilobyte of an item, because all writes are transactions. */
  readonly writeUnits: number
  readonly indexUnits: number
}

/** @throws Error when it was not counted. */
export function measuredRequests(document = readFileSync(measuredIn, 'utf8')): (route: string) => Asked {
  const section = document.split('<!-- bench: requests -->')[1]?.split('<!-- /bench -->')[0] ?? ''
  const rows = new Map(
    [...section.matchAll(/^\| `([^`]+)` \| (.*) \|$/gm)].map(([, route = '', cells = '']) => {
      const [, , readUnits = 0, writeUnits = 0, indexUnits = 0] = cells.split(' | ').map(Number)
      return [route, { readUnits, writeUnits, indexUnits }]
    }),
  )
  return (route) => {
    const asked = rows.get(route)
    if (!asked) throw new Error(`docs/performance.md has no row ${route}: npm run bench -- requests`)
    return asked
  }
}

export const difference = (more: Asked, less: Asked): Asked => ({
  readUnits: more.readUnits - less.readUnits,
  writeUnits: more.writeUnits - less.writeUnits,
  indexUnits: more.indexUnits - less.indexUnits,
})

/**
 * A cancelled transaction is paid for like one that was written, but for rows of indexes, which it did not reach; then
 * it is sent again.
 *
 * @param cancelled the share of all transactions that are cancelled.
 */
export const unitsOf = ({ readUnits, writeUnits, indexUnits }: Asked, cancelled: number): Bill => ({
  dynamoReadUnits: readUnits,
  dynamoWriteUnits: writeUnits / (1 - cancelled) + indexUnits,
})
