import { createHash } from 'node:crypto'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** What takes longest, begun last, would keep all others waiting for it. */
const slowest = [
  'browser/dashboard',
  'ledger/ledger',
  'local/readme',
  'local/start',
  'guard/faults/floods',
  'guard/plans/occurrences',
  'local/machine/image',
  'ledger/audit',
  'api/budgets/entries',
  'guard/faults/ledger-faults',
  'ledger/requests',
  'ledger/lists',
  'slack/commands',
  'infra/checks',
]

class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { shuffle, seed } = this.ctx.config.sequence
    if (shuffle) return files.toSorted((a, b) => (chanceOf(seed, a) < chanceOf(seed, b) ? -1 : 1))
    const place = ({ moduleId }: TestSpecification) => {
      const at = slowest.findIndex((name) => moduleId.endsWith(`test/${name}.test.ts`))
      return at < 0 ? slowest.length : at
    }
    return (await super.sort(files)).sort((a, b) => place(a) - place(b))
  }
}

const chanceOf = (seed: number, { moduleId }: TestSpecification): string =>
  createHash('sha256').update(`${seed} ${moduleId}`).digest('hex')

export default defineConfig({
  test: {
    root: '.',
    include: ['test/**/*.test.ts'],
    globalSetup: [
      'test/support/setup/folder.ts',
      'test/support/setup/dynamodb-local.ts',
      'test/support/setup/commands.ts',
    ],
    pool: 'forks',
    // Bundles are loaded as they are, as Lambda does it.
    server: { deps: { external: [/\/unit-guard-\w+\/.*\.mjs$/] } },
    // A worker loads each module once: tests share nothing but what they import, and that keeps no state of its own.
    isolate: false,
    // For two cores: much of the time goes into waiting for sockets and for DynamoDB Local. Two take longer, and so do four.
    maxWorkers: 3,
    sequence: { sequencer: SlowestFirst },
    // For a machine that has much else to do: it tells a test that hangs from one that waits for its turn.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
    env: { AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true' },
  },
})
