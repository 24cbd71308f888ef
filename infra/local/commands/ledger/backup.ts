import { resolve } from 'node:path'
import { count } from '../../../../shared/guard/sentences.ts'
import { toRfc3339 } from '../../../../shared/platform/clock.ts'
import { backUp } from '../../database/backup.ts'
import { CannotContinue } from '../../failures.ts'
import { commandEnvironment, defineCommand } from '../command.ts'
import { openStore } from '../open.ts'

const usage = `Copies the ledger of this machine (DATA_DIR) into a new file and audits the copy, while Unit Guard runs; updates wait
meanwhile. npm run restore -- from <file> puts it back. A copy made with cp is no backup.

  npm run backup -- <file>`

export const command = defineCommand({
  usage,
  takes: ['<file>'],
  async run(_, target = '') {
    const { file, where } = await openStore(commandEnvironment())
    if (!file)
      throw new CannotContinue(`Only a file is copied; ${where} has its own backups (docs/deploy.md, "Restoring").`)
    const { ledger, at, bytes, updates, entries, audited } = await backUp(file, resolve(target))
    const wrong = audited.filter(({ ok }) => !ok).length
    console.log(`Backed up ${ledger} as of ${toRfc3339(at)}: ${target}`)
    console.log(`  ${(bytes / 1e6).toFixed(1)} MB, ${count(updates)} updates, ${count(entries)} entries`)
    if (wrong === 0) console.log(`  audited: all ${count(audited.length)} counters match`)
    else console.error(`${count(wrong)} counters do not match their lines, in the ledger too: see GET /audit`)
    return wrong === 0
  },
})
