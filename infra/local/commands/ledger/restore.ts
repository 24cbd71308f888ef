import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { acceptance, replacement } from '../../../../shared/ledger/identity.ts'
import { systemClock, toRfc3339 } from '../../../../shared/platform/clock.ts'
import type { Marker } from '../../../../shared/platform/settings.ts'
import { replaceLedger, unpackBackup } from '../../database/backup.ts'
import { fileMarker, mustNotHaveMoved } from '../../database/marker-store.ts'
import { whileNotServed } from '../../database/server-lock.ts'
import { CannotContinue, reasonOf } from '../../failures.ts'
import { ledgerFile } from '../../settings.ts'
import { commandEnvironment, whereIs } from '../../where.ts'
import { mustBeOneOf, parseInstant, WrongUsage } from '../command.ts'
import { change, changesNothing, type OperatorLedger, openOperatorLedger } from '../open.ts'
import type { Run } from '../table.ts'
import { moveInto } from './move.ts'

export const run: Run<'restore'> = async ({ to, 'dry-run': isDry = false }, what = '', file?: string) => {
  if (what === '') return moveInto(tableIn(to), isDry)
  if (mustBeOneOf(what, ['from', 'accept']) === 'from') {
    if (file === undefined) throw new WrongUsage('<file> is needed: a backup')
    if (to !== undefined)
      throw new WrongUsage('from takes no --to, because a backup has its own time and goes into DATA_DIR')
    return restoreFrom(file, isDry)
  }
  if (file !== undefined) throw new WrongUsage(`One argument too many: '${file}'`)
  const instant = parseInstant(to ?? '', '--to', '2026-11-20T09:55:00Z')
  if (instant > systemClock.now()) throw new WrongUsage('--to must be a past time')
  return accept(await openOperatorLedger(), instant, isDry)
}

/** Neither a time nor a file is the name of a table, so `accept` and `from` cannot be forgotten. @throws WrongUsage */
function tableIn(to: string | undefined): string {
  if (to === undefined) throw new WrongUsage('from, accept or --to <table> is needed')
  if (/^[\w.-]{3,255}$/.test(to) && to !== ledgerFile) return to
  throw new WrongUsage('--to must be the name of a table, or with accept a time')
}

/** Checks the copy before it replaces the ledger. Each step can be repeated. */
async function restoreFrom(backup: string, isDry: boolean): Promise<boolean> {
  const place = whereIs(commandEnvironment())
  if (place.kind !== 'file')
    throw new CannotContinue('npm run restore -- from is for a ledger in DATA_DIR on this machine.')
  const { folder } = place
  return whileNotServed(folder, 'npm run restore', async () => {
    await mustNotHaveMoved(folder)
    const copy = join(folder, `${ledgerFile}.new`)
    try {
      const { identity, at, damaged } = await unpackBackup(backup, copy)
      const marker = fileMarker(folder)
      const { ledger, epoch = 0, table = 'none' } = identity
      const known = await marker.read()
      mustReplace({ folder, backup, ledger, known })
      console.log(
        `${backup} has the ledger ${ledger} as of ${toRfc3339(at)}; it takes the place of ${join(folder, ledgerFile)}.`,
      )
      for (const line of damaged) console.log(`  damaged in this backup: ${line}`)
      if (isDry) return changesNothing()
      if (!known) await marker.write({ ledger, epoch, table, tableName: ledgerFile })
      const aside = await replaceLedger(folder, copy)
      if (aside !== null)
        console.log(
          `  the earlier ledger is now ${join(folder, aside)}; npm run compare -- ${backup} --with ${join(folder, aside)} says what the backup lacks of it`,
        )
      return await accept(await openOperatorLedger(), at, false)
    } finally {
      await rm(copy, { force: true })
    }
  })
}

/** @throws CannotContinue */
function mustReplace(of: { folder: string; backup: string; ledger: string; known: Marker | null }): void {
  const { folder, backup, ledger, known } = of
  if (known && known.ledger !== ledger)
    throw new CannotContinue(
      `${backup} is a backup of the ledger ${ledger}, but the marker in ${folder} names ${known.ledger}: set DATA_DIR to the folder of its ledger, or to a new one.`,
    )
  if (!known && existsSync(join(folder, ledgerFile)))
    throw new CannotContinue(
      `${join(folder, ledgerFile)} has no marker beside it, so it may be of another ledger: move it out of the folder first.`,
    )
}

/** Each step can be repeated. */
async function accept(opened: OperatorLedger, to: number, isDry: boolean): Promise<boolean> {
  const { ledger, marker, table, tableId, where, ledgerIn, place } = opened
  const { identity } = (await ledger.view()).definitions
  if (!identity) throw new CannotContinue(`${table} holds no ledger with a service: npm run account -- adopt`)
  const known = await marker.read()
  if (!known) throw new CannotContinue(`The marker of the ledger in the ${place} is missing: npm run account -- adopt`)
  if (known.ledger !== identity.ledger)
    throw new CannotContinue(`${table} holds the ledger ${identity.ledger}, but the marker names ${known.ledger}.`)
  const { epoch = 0 } = identity
  // A snapshot of a whole disk brings back the marker, too. AWS never restores a table in its own place.
  const isInPlace = identity.table === tableId && epoch === known.epoch
  if (isInPlace && (place === 'table' || identity.restored?.to === to))
    throw new CannotContinue(`${table} holds the ledger already.`)

  const next = Math.max(known.epoch, epoch) + 1
  const before = known.tableName === table ? '' : ` from ${known.tableName} (epoch ${known.epoch})`
  const takes = before === '' ? `stays in ${where}` : `moves${before} to ${where}`
  console.log(`The ledger ${known.ledger} ${takes} (epoch ${next}).`)
  console.log('  account is frozen until it is reconciled and unfrozen')
  if (isDry) return changesNothing()
  const isHalfDone = identity.table === tableId && epoch === known.epoch + 1
  if (!isHalfDone) await change(opened, acceptance({ table: tableId, epoch: next, to, toText: toRfc3339(to) }))
  await marker.write({ ledger: known.ledger, epoch: isHalfDone ? epoch : next, table: tableId, tableName: table })
  if (known.tableName !== table) await replace(await ledgerIn(known.tableName), known.tableName, table)
  const first = place === 'table' ? 'Deploy with this table' : 'Start'
  console.log(`Accepted. ${first}, book what ran since (npm run recover), reconcile, and unfreeze account.`)
  return true
}

async function replace(before: OperatorLedger['ledger'], name: string, table: string): Promise<void> {
  const told = await before.change('setup', replacement(table)).then(
    () => 'is no longer used, not even by processes that still run',
    (error) =>
      `does not answer (${reasonOf(error)}): processes that still run may use it until they are deployed again`,
  )
  console.log(`  ${name} ${told}`)
}
