import { createSandbox } from '../../functions/sandbox/app.ts'
import { demonstrationProjects } from '../../functions/sandbox/demonstration.ts'
import type { State } from '../../functions/sandbox/state/state.ts'
import { createTableClient } from '../../functions/sandbox/state/table-access.ts'
import { createTableState } from '../../functions/sandbox/state/table-state.ts'
import { type Clock, systemClock } from '../../shared/platform/clock.ts'
import { systemIds } from '../../shared/platform/ids.ts'
import { ensureTable, type Place } from './database/local-ledger.ts'
import { createSandboxTable } from './database/table.ts'
import type { LocalSettings } from './settings.ts'

/**
 * The sandbox of this machine, with its state in a table of its own.
 *
 * @param database `null` keeps nothing.
 */
export async function openSandbox(local: LocalSettings, database: Place | null, token: string) {
  const state = database === null ? undefined : await openSandboxState(database, local.sandboxTable, systemClock)
  return createSandbox({
    clock: systemClock,
    token,
    unitsPerMonth: local.sandboxUnitsPerMonth,
    ...(state && { state }),
  })
}

/** @param clock dates the projects of an empty table. */
export async function openSandboxState(database: Place, table: string, clock: Clock): Promise<State> {
  await ensureTable(database, table, createSandboxTable)
  return createTableState({
    client: createTableClient(database.endpoint, database.accessKey),
    table,
    clock,
    ids: systemIds,
    demonstration: () => demonstrationProjects(clock.now()),
  })
}
