import { readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { defineConfig, mergeConfig } from 'vitest/config'
import base from '../../vitest.config.ts'
import { crowdBugs } from './bugs.ts'

const bug = crowdBugs.find(({ bug }) => bug === process.env.CROWD_BUG)

/** The crowd of agents with the seed of `npm run agents`, and perhaps with a bug. */
export default mergeConfig(
  { ...base, test: { ...base.test, include: [] } },
  defineConfig({
    plugins: [
      {
        name: 'bug',
        enforce: 'pre',
        load: (path) =>
          bug && relative('.', path) === bug.file
            ? readFileSync(path, 'utf8').replace(bug.find, () => bug.replace)
            : null,
      },
    ],
    test: { include: ['test/mcp/crowd/*.check.ts'], testTimeout: 600_000 },
  }),
)
