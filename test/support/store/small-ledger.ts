import { openFile } from '../../../infra/local/database/file.ts'
import { fileMarker } from '../../../infra/local/database/marker-store.ts'
import { ledgerFile } from '../../../infra/local/settings.ts'
import { logins } from '../../../shared/auth/logins.ts'
import { usualAccount } from '../../../shared/ledger/identity.ts'
import { createLedger } from '../../../shared/ledger/ledger.ts'
import { createSqliteStore } from '../../../shared/ledger/store/sqlite-store.ts'
import { systemClock } from '../../../shared/platform/clock.ts'

/** A ledger of the stand-in in a folder, with its marker, more items than one batch of a move, and one item that expires. */
export async function makeSmallLedger(directory: string) {
  const { file, id } = await openFile(directory, ledgerFile)
  const store = createSqliteStore(file, { clock: systemClock, tableId: id })
  const expected = { service: 'sandbox' }
  const ledger = createLedger({ store, clock: systemClock, account: usualAccount, expected })
  const request = { type: 'external-spend', budget: 'account', units: 420, reason: 'by hand', by: 'ada' } as const
  await ledger.enter({ ...request, id: 'ent_1', content: 'one' })
  const many = Array.from({ length: 60 }, (_, number) => {
    const item = { pk: `project-change#${number}`, sk: 'project-change', added: { keywords: number }, status: null }
    return { kind: 'put', item, when: [] } as const
  })
  await store.transact(many, 'project-changes')
  await ledger.item(logins).issue('ada', systemClock.now())
  file.db.exec('DELETE FROM changes')
  const identity = (await ledger.view()).definitions.identity
  if (!identity) throw new Error('a new ledger has an identity')
  await fileMarker(directory).write({ ledger: identity.ledger, epoch: 0, table: id, tableName: ledgerFile })
  return { file, store, ledger: identity.ledger }
}
