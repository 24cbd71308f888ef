import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { bundleAll } from '../../../infra/bundle.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The folder of the bundles, made once for all test files. */
    bundles: string
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'unit-guard-'))
  await bundleAll({ into: folder })
  project.provide('bundles', folder)
  return () => rm(folder, { recursive: true })
}
