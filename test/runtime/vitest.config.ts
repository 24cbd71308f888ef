import { defineConfig, mergeConfig } from 'vitest/config'
import base from '../vitest.config.ts'

/** The tests that need Lambda's Node, and packages that only they use: npm run test:runtime. */
export default mergeConfig(
  { ...base, test: { ...base.test, include: [] } },
  defineConfig({
    test: {
      globalSetup: ['test/support/setup/bundles.ts'],
      include: [
        'test/mcp/conformance/*.check.ts',
        'test/runtime/**/*.check.ts',
        'test/infra/bundles.test.ts',
        'test/local/machine/image.test.ts',
        'test/sandbox/handler.test.ts',
      ],
    },
  }),
)
