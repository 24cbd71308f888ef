import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** A file of settings, such as plans, until the test ends. */
export async function writeFileOf(name: string, rows: readonly object[]): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), `${name}-`))
  onTestFinished(() => rm(directory, { recursive: true }))
  const file = join(directory, `${name}.json`)
  await writeFile(file, JSON.stringify(rows))
  return file
}
