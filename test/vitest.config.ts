import { createHash } from 'node:crypto'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** These take longest, and all others would wait for them if they began last. */
const slowest = [
  'browser/dashboard',
  'api/reads/apart',
  'dashboard/narrowed',
  'infra/bundles',
  'infra/checks',
  'local/backup/restore',
  'local/serve',
  'guard/plans/occurrences',
  'local/machine/image',
  'local/start',
  'api/budgets/entries',
  'guard/faults/ledger-faults',
  'tracking/forward',
  'local/readme',
  'deploy/on-aws',
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
    // Bundles are loaded unchanged, as Lambda does.
    server: { deps: { external: [/\/unit-guard-\w+\/.*\.mjs$/] } },
    // A worker loads each module once. Tests share only imported modules, which keep no state.
    isolate: false,
    // For two cores, because tests wait long for sockets and for DynamoDB Local. Two workers take longer, and so do four.
    maxWorkers: 3,
    sequence: { sequencer: SlowestFirst },
    // For a busy machine: longer than a test waits for its turn, so that a timeout means that it hangs.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
    env: { AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true' },
  },
})
