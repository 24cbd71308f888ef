import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    root: '.',
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/dynamodb-local.ts', 'test/support/commands.ts'],
    pool: 'forks',
    // A worker loads each module once: tests share nothing but what they import, and that keeps no state of its own.
    isolate: false,
    // Most of the time goes into waiting for sockets and for DynamoDB Local, which vitest's default does not know.
    maxWorkers: 3,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    env: { AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true' },
  },
})
