import { appendFileSync } from 'node:fs'
import { createBell, followChanges } from '../../../infra/local/database/changes.ts'
import { openFile } from '../../../infra/local/database/file.ts'

/** Reads the changes of a ledger and writes down the item of each, for a test that kills this process. */
const [directory = '', notes = ''] = process.argv.slice(2)
const { file } = await openFile(directory, 'ledger.db', { mustCheck: true })
const log = { info() {}, error: (...words: unknown[]) => console.error(...words), hide() {} }
followChanges(
  { file, bell: createBell(), log },
  {
    name: 'systems',
    batchSize: 10,
    batchesAtOnce: 1,
    read: async ({ Records }) => {
      for (const { dynamodb } of Records) appendFileSync(notes, `${dynamodb.Keys.pk?.S}\n`)
      return { batchItemFailures: [] }
    },
  },
)
