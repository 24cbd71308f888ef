import { defineConfig } from 'vitest/config'
import { chosen } from './parts.js'

/** The tests of one part, on the ledger in memory: each mutant runs those that reach it. */
export default defineConfig({
  // As in tsconfig.json, which is not looked for in the sandbox, below node_modules.
  oxc: { jsx: { runtime: 'automatic', importSource: 'hono/jsx' } },
  test: {
    root: '.',
    include: chosen.tests,
    // The one test that sets the process's time zone, which a thread cannot do.
    testNamePattern: /^(?!.*times are UTC wherever the process is)/,
    globalSetup: ['test/mutation/setup.ts'],
    setupFiles: chosen.setup ?? [],
    // What is mutated is slower, and a busy machine must not look like a killed mutant.
    testTimeout: 30_000,
    env: { AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true' },
  },
})
