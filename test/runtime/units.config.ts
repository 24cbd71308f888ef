import { defineConfig, mergeConfig } from 'vitest/config'
import base from '../vitest.config.ts'

/**
 * The unit tests: the rooms below HTTP on the store in memory, without floods, jobs, and tests that need DynamoDB Local. npm run
 * test:runtime -- suite leaves nothing out.
 */
export default mergeConfig(
  { ...base, test: { ...base.test, include: [], globalSetup: [] } },
  defineConfig({
    test: {
      include: [
        'test/{events,ledger,log,outbox,platform,scheduled,tracking}/**/*.test.ts',
        'test/guard/*.test.ts',
        'test/guard/{people,reads,update}/*.test.ts',
      ],
      globalSetup: ['test/support/setup/folder.ts'],
      provide: { dynamodb: null },
      maxWorkers: 2,
    },
  }),
)
