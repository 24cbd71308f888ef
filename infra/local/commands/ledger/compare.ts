import { basename, join } from 'node:path'
import type { Item } from '../../../../shared/ledger/store/store.ts'
import { toRfc3339 } from '../../../../shared/platform/clock.ts'
import { type ReadOnlyLedger, readLedger } from '../../database/read-only.ts'
import { CannotContinue } from '../../failures.ts'
import { ledgerFile } from '../../settings.ts'
import { commandEnvironment, whereIs } from '../../where.ts'
import type { Run } from '../table.ts'
import { type ByKind, differingItems } from './differing-items.ts'
import { isCompared, itemsInWords } from './items-in-words.ts'

export const run: Run<'compare'> = ({ with: other = ledgerHere() }, backup = '') =>
  readLedger(backup, (from) => readLedger(other, (to) => compare(from, to)))

/** @throws CannotContinue */
function ledgerHere(): string {
  const place = whereIs(commandEnvironment())
  if (place.kind !== 'file') throw new CannotContinue('Only files are compared: name the second one (--with <file>).')
  if (place.isThere) return join(place.folder, ledgerFile)
  throw new CannotContinue(
    `There is no ledger in ${place.folder} to compare with: set DATA_DIR, or name its file (--with <file>). If it is lost, its log has the updates (docs/one-machine.md, "Backups").`,
  )
}

/** Returns whether nothing is lacking. */
async function compare(from: ReadOnlyLedger, to: ReadOnlyLedger): Promise<boolean> {
  const items = await differingItems(from, to, isCompared)
  mustBeOneLedger(items, from, to)
  const lines = itemsInWords(items, basename(from.path))
  const unread = [from, to].flatMap(({ path, unread: all }) => [...all].map((what) => `${path}: ${what}`))
  const asOf = from.backedUpAt === null ? '' : ` as of ${toRfc3339(from.backedUpAt)}`
  if (lines.length === 0) console.log(`${from.path}${asOf} lacks nothing of ${to.path}.`)
  else {
    console.log(`${from.path}${asOf}, compared with ${to.path}:`)
    for (const line of lines) console.log(`  ${line}`)
    console.log(afterRestore)
  }
  if (unread.length > 0) console.log('These cannot be read, so they are not compared:')
  for (const line of unread) console.log(`  ${line}`)
  return lines.length === 0 && unread.length === 0
}

const afterRestore =
  'After a restore, set and enter these again; npm run recover books the updates, and the reconciliation what was spent outside.'

/** @throws CannotContinue */
function mustBeOneLedger(items: ByKind, from: ReadOnlyLedger, to: ReadOnlyLedger): void {
  const [row] = items.get('definitions') ?? []
  const [one, other] = [ledgerIn(row?.from), ledgerIn(row?.to)]
  if (one === undefined || other === undefined || one === other) return
  throw new CannotContinue(
    `${from.path} has the ledger ${one}, but ${to.path} has ${other}: only one ledger is compared.`,
  )
}

const ledgerIn = (item: Item | null | undefined): unknown => item && Object(item.identity).ledger
