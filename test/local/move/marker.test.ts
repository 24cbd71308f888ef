import { readFileSync, readlinkSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { fileMarker } from '../../../infra/local/database/marker-store.ts'
import { newFolder } from '../../support/process/local.ts'

const marker = (tableName: string) => ({ ledger: 'led_1', epoch: 1, table: 'id', tableName })

/** The path of each file or folder that reaches the disk, with the marker's text at that time. */
async function watchSyncs(directory: string): Promise<[path: string, marker: string][]> {
  const seen: [string, string][] = []
  const handle = await open(directory)
  const all: FileHandle = Object.getPrototypeOf(handle)
  await handle.close()
  const { sync } = all
  vi.spyOn(all, 'sync').mockImplementation(function (this: FileHandle) {
    seen.push([readlinkSync(`/proc/self/fd/${this.fd}`), readFileSync(join(directory, 'ledger'), 'utf8')])
    return sync.call(this)
  })
  onTestFinished(() => void vi.restoreAllMocks())
  return seen
}

test.runIf(process.platform === 'linux')(
  'a power failure keeps the marker: its text is on the disk before the rename, and the rename before the next step',
  async () => {
    const directory = await newFolder()
    await fileMarker(directory).write(marker('ledger.db'))
    const synced = await watchSyncs(directory)
    await fileMarker(directory).write(marker('units'))
    expect(synced).toEqual([
      [join(directory, 'ledger.new'), 'led_1 1 id ledger.db\n'],
      [directory, 'led_1 1 id units\n'],
    ])
  },
)
