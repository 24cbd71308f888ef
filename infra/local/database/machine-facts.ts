import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type MachineFacts, unknownFacts } from '../../../shared/guard/troubles/table.ts'
import type { DiskFault } from '../../../shared/ledger/errors.ts'
import {
  backedUpAt,
  backupFailedAt,
  instantIn,
  type SqliteFile,
  sweptAt,
} from '../../../shared/ledger/store/sqlite-file.ts'
import { systemClock } from '../../../shared/platform/clock.ts'
import { remembered } from '../../../shared/platform/remembered.ts'
import { setAsideIn } from './changes.ts'

const probesEveryMs = 2_000

/** For a process that is asked often. @param folder of the file. `null`: the ledger is in memory. */
export function createMachine(file: SqliteFile, folder: string | null): () => Promise<MachineFacts> {
  const disk = remembered(systemClock, probesEveryMs, async () => (folder === null ? null : diskFault(folder)))
  return () => factsOf(file, disk)
}

export const machineFacts = (file: SqliteFile, folder: string): Promise<MachineFacts> =>
  factsOf(file, () => diskFault(folder))

async function factsOf(file: SqliteFile, diskNow: () => Promise<DiskFault | null>): Promise<MachineFacts> {
  const [disk, facts] = await Promise.all([
    diskNow(),
    file
      .read(() => ({
        sweptAt: instantIn(file.db, sweptAt),
        backedUpAt: instantIn(file.db, backedUpAt),
        backupFailedAt: instantIn(file.db, backupFailedAt),
        setAside: setAsideIn(file.db),
      }))
      .catch(() => unknownFacts),
  ])
  return { ...facts, disk }
}

/** A transaction needs a few pages, so one byte would be too little. */
const probe = Buffer.alloc(16 * 1024)

const faults: Readonly<Record<string, DiskFault>> = {
  ENOSPC: 'full',
  EDQUOT: 'full',
  EROFS: 'read-only',
  EACCES: 'read-only',
  EPERM: 'read-only',
}

/** Writes a small file beside the ledger and removes it. */
export async function diskFault(folder: string): Promise<DiskFault | null> {
  const path = join(folder, `.probe-${process.pid}`)
  try {
    await writeFile(path, probe, { flush: true })
    return null
  } catch (error) {
    return faults[(error as NodeJS.ErrnoException).code ?? ''] ?? 'failing'
  } finally {
    await rm(path, { force: true }).catch(() => {})
  }
}
