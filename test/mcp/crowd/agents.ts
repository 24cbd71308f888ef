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

async function run(env: Record<string, string>) {
  const options = ['run', '--config', 'test/mcp/crowd/vitest.config.ts', '--reporter=dot']
  const child = spawn(process.execPath, ['node_modules/vitest/vitest.mjs', ...options], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', env.CROWD_BUG === undefined ? 'inherit' : 'ignore'],
  })
  let text = ''
  child.stdout.on('data', (chunk) => {
    text += chunk
    if (env.CROWD_BUG === undefined) process.stdout.write(chunk)
  })
  const [code] = await once(child, 'close')
  return { isKept: code === 0, broken: /BROKEN: (.*)/.exec(text)?.[1] }
}

async function everyBug(): Promise<boolean> {
  const small = { CROWD_AGENTS: '22', CROWD_SEEDS: '1' }
  if (!(await run(small)).isKept) return false
  let survivors = 0
  for (const { bug } of crowdBugs) {
    const { broken } = await run({ ...small, CROWD_BUG: bug })
    if (broken === undefined) survivors++
    say(broken === undefined ? `SURVIVED  ${bug}` : `caught    ${bug}: ${broken}`)
  }
  return survivors === 0
}

const { seeds = '1' } = flags
process.exit((await (flags.bugs ? everyBug() : (await run({ CROWD_SEEDS: seeds })).isKept)) ? 0 : 1)
