import { defineConfig } from 'vitest/config'
import { BaseSequencer } from 'vitest/node'
import { chosen } from './parts.js'

/** As they are listed: the first test that fails decides, so those that are fast and notice much come first. */
class AsListed extends BaseSequencer {
  /** @param {import('vitest/node').TestSpecification[]} files */
  async sort(files) {
    const place = (/** @type {{ moduleId: string }} */ { moduleId }) =>
      chosen.tests.findIndex((name) => moduleId.endsWith(name))
    return (await super.sort(files)).sort((a, b) => place(a) - place(b))
  }
}

/** The tests of one part, on the ledger in memory: each mutant runs those that reach it. */
export default defineConfig({
  // As in tsconfig.json, which is not looked for in the sandbox, below node_modules.
  oxc: { jsx: { runtime: 'automatic', importSource: 'hono/jsx' } },
  test: {
    root: '.',
    include: chosen.tests,
    ...(chosen.leavesOut && { testNamePattern: new RegExp(`^(?!.*(${chosen.leavesOut.join('|')}))`) }),
    globalSetup: ['test/mutation/setup.ts'],
    setupFiles: chosen.setup ?? [],
    // One loading of the modules for all files, where they leave nothing behind; what Stryker adds to each runs for each.
    isolate: !chosen.isLoadedOnce,
    server: { deps: { inline: [/stryker-setup/] } },
    sequence: { sequencer: AsListed },
    // What is mutated is slower, and a busy machine must not look like a killed mutant.
    testTimeout: 30_000,
    env: { AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true' },
  },
})
