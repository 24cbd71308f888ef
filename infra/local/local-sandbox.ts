import { createSandbox } from '../../functions/sandbox/app.ts'
import { demonstrationProjects } from '../../functions/sandbox/demonstration.ts'
import type { State } from '../../functions/sandbox/state.ts'
import { createTableClient } from '../../functions/sandbox/table-access.ts'
import { createTableState } from '../../functions/sandbox/table-state.ts'
import { type Clock, systemClock } from '../../shared/platform/clock.ts'
import { systemIds } from '../../shared/platform/ids.ts'
import { ensureTable, type Place } from './local-ledger.ts'
import type { LocalSettings } from './settings.ts'
import { createSandboxTable } from './table.ts'

/**
 * The sandbox as this machine has it: what it remembers is in a table of its own, which is made if it is missing.
 *
 * @param database `null`: there is none, and nothing is kept.
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

/** @param clock when an empty table is filled, by which the projects that it begins with have their dates. */
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
