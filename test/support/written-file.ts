import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** A file of settings, such as plans, which exists until the test ends. */
export async function writeFileOf(name: string, rows: readonly object[]): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), `${name}-`))
  onTestFinished(() => rm(directory, { recursive: true }))
  const file = join(directory, `${name}.json`)
  await writeFile(file, JSON.stringify(rows))
  return file
}

/** The settings that name files, with a file for each that a test gives. */
export async function filesOf(given: {
  readonly plans?: readonly object[]
  readonly issuers?: readonly object[]
  readonly targets?: readonly object[]
}): Promise<Record<string, string>> {
  return {
    ...(given.plans && { PLANS: await writeFileOf('plans', given.plans) }),
    ...(given.issuers && { TRUSTED_ISSUERS: await writeFileOf('issuers', given.issuers) }),
    ...(given.targets && { EVENT_TARGETS: await writeFileOf('targets', given.targets) }),
  }
}
