import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    root: '.',
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/dynamodb-local.ts'],
    pool: 'forks',
    // Most of the time goes into waiting for sockets and for DynamoDB Local, which vitest's default does not know.
    maxWorkers: 3,
    testTimeout: 20_000,
    hookTimeout: 30_000,
    env: { AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true' },
  },
})
