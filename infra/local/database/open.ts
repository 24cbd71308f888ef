import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createSandbox } from '../../../functions/sandbox/app.ts'
import { demonstrationProjects } from '../../../functions/sandbox/demonstration.ts'
import type { Habits } from '../../../functions/sandbox/project.ts'
import { createState, type State } from '../../../functions/sandbox/state.ts'
import { emptyFault } from '../../../shared/ledger/identity.ts'
import { passEveryMs, passTime } from '../../../shared/ledger/store/running-time.ts'
import { parse, sealed, unseal } from '../../../shared/ledger/store/sealed.ts'
import { createSqliteFile, openSqlite, type SqliteFile } from '../../../shared/ledger/store/sqlite-file.ts'
import { createSqliteStore } from '../../../shared/ledger/store/sqlite-store.ts'
import type { Item, Store } from '../../../shared/ledger/store/store.ts'
import { type Clock, systemClock } from '../../../shared/platform/clock.ts'
import { systemIds } from '../../../shared/platform/ids.ts'
import { sizeOf } from '../data-directory.ts'
import { CannotContinue, reasonOf } from '../failures.ts'
import { type LocalSettings, ledgerFile } from '../settings.ts'
import type { Shutdown } from '../shutdown.ts'
import { createBell, type Follow, followChanges } from './changes.ts'
import { openFile, sandboxFile } from './file.ts'
import { fileMarker, mustNotHaveMoved } from './marker-store.ts'
import { takeServer } from './server-lock.ts'

export interface LocalLedger {
  readonly file: SqliteFile
  readonly store: Store
  readonly follow: Follow
  readonly where: string
}

/** Opens the ledger for the process that serves it. @param keptIn the folder of the file; `null` keeps nothing. */
export async function openLedger(keptIn: string | null, shutdown: Shutdown): Promise<LocalLedger> {
  if (keptIn !== null) await mustNotHaveMoved(keptIn)
  const bell = createBell()
  const { file, id } = keptIn === null ? openMemory() : await openServed(keptIn, shutdown)
  passTimeIn(file)
  const parts = { clock: systemClock, onChanges: bell.ring, ...(id !== undefined && { tableId: id }) }
  return {
    file,
    store: createSqliteStore(file, parts),
    follow: async ({ log }, reader) => followChanges({ log, file, bell }, reader),
    where: keptIn === null ? forgotten : fileIn(keptIn),
  }
}

/** Failures are ignored, because other failing writes report them. */
function passTimeIn(file: SqliteFile): void {
  const pass = () => void file.write(() => passTime(file.db, systemClock.now())).catch(() => {})
  setInterval(pass, passEveryMs).unref()
}

const forgotten = 'IN MEMORY: nothing is kept, and other commands cannot see it'

/** A ledger in memory. `items` returns all its items, so that they can be stored elsewhere. */
export function openScratch(clock: Clock): { store: Store; items: () => Item[] } {
  const { file } = openMemory(clock)
  const rows = file.db.prepare(`SELECT ${sealed('item')} FROM items`).raw()
  return {
    store: createSqliteStore(file, { clock }),
    items: () => (rows.all() as unknown[][]).map(([type, bytes]) => parse(unseal(type, bytes)) as Item),
  }
}

const openMemory = (clock: Clock = systemClock) => ({
  file: createSqliteFile({ db: openSqlite(':memory:'), clock, ids: systemIds }),
  id: undefined,
})

/** After a fault of the disk the pages in memory cannot be trusted, so the process ends as if it was killed. */
function endNow(sentence: string): void {
  console.error(`unit-guard: ${sentence}`)
  process.exit(1)
}

async function openServed(directory: string, shutdown: Shutdown) {
  await mustHaveLedger(directory)
  const { release } = await takeServer(directory)
  const opened = await openFile(directory, ledgerFile, { mustCheck: true, onDamage: endNow })
  shutdown.onStop(async () => release())
  return opened
}

/** Throws if the file is missing and a marker says that a ledger was here. */
async function mustHaveLedger(directory: string): Promise<void> {
  if (['', '-journal'].some((end) => existsSync(join(directory, `${ledgerFile}${end}`)))) return
  const known = await fileMarker(directory).read()
  if (known) throw new CannotContinue(emptyFault(known, 'file').text)
}

/**
 * Commands open the ledger beside the process that serves it, which may be of an earlier version.
 *
 * @param how.mustCheck for commands that may send updates.
 */
export async function openForCommand(directory: string, how: { mustCheck?: boolean; takesOver?: boolean } = {}) {
  await mustNotHaveMoved(directory)
  const { mustCheck = false, takesOver = false } = how
  const { file, id } = await openFile(directory, ledgerFile, { mustCheck, takesOver })
  return { file, store: createSqliteStore(file, { clock: systemClock, tableId: id }), where: fileIn(directory) }
}

const fileIn = (directory: string): string => `the file ${join(directory, ledgerFile)}`

/** The stand-in, with its state beside the ledger. @throws CannotContinue if a ledger exists but this state is missing. */
export async function openSandbox(local: LocalSettings, token: string) {
  if (local.keptIn !== null) await mustHaveState(local.keptIn)
  return createSandbox({
    clock: systemClock,
    token,
    unitsPerMonth: local.sandboxUnitsPerMonth,
    habits: local.sandboxHabits,
    state: await openSandboxState(local.keptIn, systemClock, local.sandboxHabits),
  })
}

/** A new state would not know the units that the ledger has counted. */
async function mustHaveState(directory: string): Promise<void> {
  const path = join(directory, sandboxFile)
  if ((await sizeOf(path)) > 0 || (await fileMarker(directory).read()) === null) return
  throw new CannotContinue(
    `${path}, the state of the stand-in, is missing, but its ledger is here: put it back, set DATA_DIR to another folder, where both begin, or set TRACKING_BASE_URL if the ledger is of a real service`,
  )
}

/** `npm start` may run at the same time, so `npm run sandbox` has a folder of its own. */
export async function openSandboxAlone(local: LocalSettings, token: string, shutdown: Shutdown) {
  const keptIn = local.keptIn === null ? null : join(local.keptIn, 'sandbox')
  const lock = keptIn === null ? null : await takeServer(keptIn)
  shutdown.onStop(async () => lock?.release())
  const where = keptIn === null ? forgotten : `the file ${join(keptIn, sandboxFile)}`
  return { app: await openSandbox({ ...local, keptIn }, token), where }
}

/** @param clock for the dates of an empty file's projects. */
export async function openSandboxState(keptIn: string | null, clock: Clock, habits?: Habits): Promise<State> {
  const demonstration = demonstrationProjects(clock.now(), habits)
  if (keptIn === null) return createState(demonstration)
  const { file } = await openFile(keptIn, sandboxFile, { mustCheck: true, onDamage: endNow })
  passTimeIn(file)
  const state = createState(demonstration, createSqliteStore(file, { clock: systemClock }))
  // Writes an empty file now, so that a full disk shows at the start and not in a request.
  await state.faults().catch((error) => {
    throw new CannotContinue(`${join(keptIn, sandboxFile)}: ${reasonOf(error)}; set DATA_DIR to another folder`)
  })
  return state
}
