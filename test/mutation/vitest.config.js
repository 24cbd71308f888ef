import { defineConfig } from 'vitest/config'
import { BaseSequencer } from 'vitest/node'
import { chosen } from './parts.js'

/** The files in their listed order, then those of a pattern. The first failing test decides, so fast tests that find much come first. */
class AsListed extends BaseSequencer {
  /** @param {import('vitest/node').TestSpecification[]} files */
  async sort(files) {
    const place = (/** @type {{ moduleId: string }} */ { moduleId }) => {
      const listed = chosen.tests.findIndex((name) => moduleId.endsWith(name))
      return listed < 0 ? chosen.tests.length : listed
    }
    return (await super.sort(files)).sort((a, b) => place(a) - place(b))
  }
}

/** The tests of one part, on the ledger in memory. Each mutant runs the tests that reach it. */
export default defineConfig({
  // This repeats tsconfig.json, which the sandbox below node_modules does not read.
  oxc: { jsx: { runtime: 'automatic', importSource: 'hono/jsx' } },
  test: {
    root: '.',
    include: chosen.tests,
    ...(chosen.leavesOut && { testNamePattern: new RegExp(`^(?!.*(${chosen.leavesOut.join('|')}))`) }),
    globalSetup: ['test/mutation/setup.ts'],
    setupFiles: chosen.setup ?? [],
    // Loads the modules once for all files if these leave nothing behind; Stryker's own code runs for each file.
    isolate: !chosen.isLoadedOnce,
    server: { deps: { inline: [/stryker-setup/] } },
    sequence: { sequencer: AsListed },
    // Mutated code is slower, and a slow test on a busy machine must not count as a killed mutant.
    testTimeout: 30_000,
    env: { AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true' },
  },
})
