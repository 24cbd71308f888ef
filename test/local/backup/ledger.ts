import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { fileMarker } from '../../../infra/local/database/marker-store.ts'
import { openForCommand } from '../../../infra/local/database/open.ts'
import { usualAccount } from '../../../shared/ledger/identity.ts'
import { createLedger } from '../../../shared/ledger/ledger.ts'
import type { Store } from '../../../shared/ledger/store/store.ts'
import { systemClock } from '../../../shared/platform/clock.ts'
import { temporaryDirectory } from '../../support/process/local.ts'
import { u } from '../../support/records.ts'

export const service = { TRACKING_BASE_URL: 'https://service.example/v3' }

export async function newFolder(): Promise<string> {
  const { directory, remove } = await temporaryDirectory()
  onTestFinished(remove)
  return join(directory, 'data')
}

const ledgerOf = (store: Store, more: object = {}) =>
  createLedger({ store, clock: systemClock, account: { ...usualAccount, usedAtStart: u(800) }, begins: false, ...more })

/** A ledger in a new folder, with its marker, as `npm run account -- begin` makes it. */
export async function begun(folder?: string): Promise<string> {
  const directory = folder ?? (await newFolder())
  const { store, file } = await openForCommand(directory)
  const expected = { service: service.TRACKING_BASE_URL }
  const { identity } = (await ledgerOf(store, { begins: true, expected }).view()).definitions
  if (!identity?.table) throw new Error('the new ledger has no table id')
  await fileMarker(directory).write({ ...identity, table: identity.table, epoch: 0, tableName: 'ledger.db' })
  file.db.close()
  return directory
}

/** What the ledger in a folder contains. Its account and service are not compared with settings. */
export async function lookInto(folder: string) {
  const { store, file } = await openForCommand(folder)
  const ledger = ledgerOf(store)
  const { definitions } = await ledger.view()
  const audited = await ledger.audit()
  const entries = await ledger.entries({ month: (await ledger.view()).month.name }, 100)
  file.db.close()
  const reasons = entries.rows.map(({ reason }) => reason)
  return { definitions, isSound: audited.length > 0 && audited.every(({ ok }) => ok), reasons }
}

/** Enters in the ledger that units were spent without Unit Guard. */
export async function spend(folder: string, units: number, reason: string): Promise<void> {
  const { store, file } = await openForCommand(folder)
  const outcome = await ledgerOf(store).enter({
    type: 'external-spend',
    budget: 'account',
    units,
    reason,
    by: 'ada',
    id: `ent_${reason.replaceAll(' ', '')}`,
    content: reason,
  })
  file.db.close()
  if (outcome.kind !== 'entered') throw new Error(JSON.stringify(outcome))
}

/** Disables a caller in the ledger, as its next revision. */
export async function disable(folder: string, caller: string): Promise<void> {
  const { store, file } = await openForCommand(folder)
  const outcome = await ledgerOf(store).change('ada', ({ definitions }) => ({
    definitions: { ...definitions, callers: { [caller]: { disabled: true } } },
    note: { type: 'caller', budget: 'account', reason: 'a lost laptop' },
  }))
  file.db.close()
  if (outcome.kind !== 'changed') throw new Error(JSON.stringify(outcome))
}

export const markerIn = (folder: string): Promise<string> => readFile(join(folder, 'ledger'), 'utf8')
