import { resolve } from 'node:path'
import { count } from '../../../../shared/guard/sentences.ts'
import { toRfc3339 } from '../../../../shared/platform/clock.ts'
import { backUp } from '../../database/backup.ts'
import { remedyOfDamage } from '../../database/damage.ts'
import { CannotContinue } from '../../failures.ts'
import { commandEnvironment } from '../../where.ts'
import { openStore } from '../open.ts'
import type { Run } from '../table.ts'

export const run: Run<'backup'> = async (_, target = '') => {
  const { file, where } = await openStore(commandEnvironment())
  if (!file)
    throw new CannotContinue(`Only a file is copied; ${where} has its own backups (docs/deploy.md, "Restoring").`)
  const { ledger, at, bytes, updates, entries, audited, damaged, isNoted } = await backUp(file, resolve(target))
  const wrong = audited.filter(({ ok }) => !ok).length
  console.log(`Backed up ${ledger} as of ${toRfc3339(at)}: ${target}`)
  console.log(`  ${(bytes / 1e6).toFixed(1)} MB, ${count(updates)} updates, ${count(entries)} entries`)
  if (!isNoted) console.error('The ledger takes no note of this backup (see npm run doctor), so it may be called late.')
  if (damaged.length > 0) {
    console.error(`It is not audited, because a part of the ledger is damaged, and so is its copy. ${remedyOfDamage}:`)
    for (const line of damaged) console.error(`  ${line}`)
    return false
  }
  if (wrong === 0) console.log(`  audited: all ${count(audited.length)} counters match`)
  else console.error(`${count(wrong)} counters do not match their lines, in the ledger too: see GET /audit`)
  return wrong === 0
}
