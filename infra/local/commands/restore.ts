import { acceptance, replacement } from '../../../shared/ledger/identity.ts'
import { systemClock, toRfc3339 } from '../../../shared/platform/clock.ts'
import { CannotContinue, reasonOf } from '../failures.ts'
import { defineCommand, mustBeOneOf, parseInstant, WrongUsage } from './command.ts'
import { type OperatorLedger, withOperatorLedger } from './open.ts'

const usage = `Lets a table or a file that was restored from a backup take over. It freezes the account: unfreeze it after a reconciliation.

  npm run restore -- accept --to <instant> [--dry-run]

  --to       the time that the table was restored to, in RFC 3339: 2026-11-20T09:55:00Z
  --dry-run  shows what would change, and changes nothing

On this machine it is the file ledger.db in DATA_DIR, which a backup has replaced while nothing ran (remove ledger.db-journal). With
SECRETS_ENDPOINT set to nothing it is the table TABLE_NAME on AWS.`

export const command = defineCommand({
  usage,
  flags: { to: { type: 'string' }, 'dry-run': { type: 'boolean' } },
  takes: ['<accept>'],
  async run({ to = '', 'dry-run': isDry = false }, what = '') {
    mustBeOneOf(what, ['accept'])
    const instant = parseInstant(to, '--to', '2026-11-20T09:55:00Z')
    if (instant > systemClock.now()) throw new WrongUsage('--to must be a past time')
    return withOperatorLedger((opened) => accept(opened, instant, isDry))
  },
})

/** Each step can be repeated. */
async function accept(opened: OperatorLedger, to: number, isDry: boolean): Promise<boolean> {
  const { ledger, marker, table, tableId, where, ledgerIn, place } = opened
  const { identity } = (await ledger.view()).definitions
  if (!identity) throw new CannotContinue(`${table} holds no ledger that knows its service: npm run account -- adopt`)
  const known = await marker.read()
  if (!known) throw new CannotContinue(`No ledger is known outside of the ${place}: npm run account -- adopt`)
  if (known.ledger !== identity.ledger)
    throw new CannotContinue(`${table} holds the ledger ${identity.ledger}, and ${known.ledger} is known here.`)
  const { epoch = 0 } = identity
  if (identity.table === tableId && epoch === known.epoch)
    throw new CannotContinue(`${table} holds the ledger already.`)

  const next = Math.max(known.epoch, epoch) + 1
  console.log(
    `The ledger ${known.ledger} moves from ${known.tableName} (epoch ${known.epoch}) to ${where} (epoch ${next}).`,
  )
  console.log('  account is frozen until it is reconciled and unfrozen')
  if (isDry) {
    console.log('Nothing was changed (--dry-run).')
    return true
  }
  const isHalfDone = identity.table === tableId && epoch === known.epoch + 1
  if (!isHalfDone) {
    const make = acceptance({ table: tableId, epoch: next, to, toText: toRfc3339(to) })
    const outcome = await ledger.change('setup', make)
    if (outcome.kind !== 'changed')
      throw new CannotContinue(String(outcome.kind === 'refused' ? outcome.refused : outcome.kind))
  }
  await marker.write({ ledger: known.ledger, epoch: isHalfDone ? epoch : next, table: tableId, tableName: table })
  if (known.tableName !== table) await replace(await ledgerIn(known.tableName), known.tableName, table)
  const first = place === 'table' ? 'Deploy with this table' : 'Start'
  console.log(`Accepted. ${first}, book what ran since (npm run recover), reconcile, and unfreeze account.`)
  return true
}

async function replace(before: OperatorLedger['ledger'], name: string, table: string): Promise<void> {
  try {
    await before.change('setup', replacement(table))
    console.log(`  ${name} is not used any more, by processes of before either`)
  } catch (error) {
    console.log(
      `  ${name} does not answer (${reasonOf(error)}): processes of before may use it until they are deployed again`,
    )
  }
}
