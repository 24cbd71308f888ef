import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readOrExit } from '../../../infra/local/commands/command.ts'
import { say } from '../../support/process/command-line.ts'
import { crowdBugs } from './bugs.ts'

const usage = `A hundred agents at once, with the official client, at two processes of the product: they repeat, cancel, break streams, mix
quotes and come late, prices grow, budgets freeze and processes die. One run a quote, exact books, advice in every answer.

  npm run agents -- --seeds 1-20   figures of each seed
  npm run agents -- --bugs         each planted bug, which a smaller crowd must notice`

const { flags } = readOrExit({ usage, flags: { seeds: { type: 'string' }, bugs: { type: 'boolean' } } })

/** @returns whether every promise was kept. */
async function run(env: Record<string, string>, shows: boolean): Promise<boolean> {
  const options = ['run', '--config', 'test/mcp/crowd/vitest.config.ts', '--reporter=dot']
  const child = spawn(process.execPath, ['node_modules/vitest/vitest.mjs', ...options], {
    env: { ...process.env, ...env },
    stdio: shows ? 'inherit' : 'ignore',
  })
  const [code] = await once(child, 'exit')
  return code === 0
}

async function everyBug(): Promise<boolean> {
  const small = { CROWD_AGENTS: '22', CROWD_SEEDS: '1' }
  if (!(await run(small, true))) return false
  let survivors = 0
  for (const { bug } of crowdBugs) {
    const isCaught = !(await run({ ...small, CROWD_BUG: bug }, false))
    if (!isCaught) survivors++
    say(`${isCaught ? 'caught   ' : 'SURVIVED '} ${bug}`)
  }
  return survivors === 0
}

const { seeds = '1' } = flags
process.exit((await (flags.bugs ? everyBug() : run({ CROWD_SEEDS: seeds }, true))) ? 0 : 1)
