import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openFile } from '../../infra/local/database/file.ts'
import { firstValue } from '../../shared/ledger/store/sqlite-file.ts'
import { commandsFolder } from '../support/process/commands.ts'
import { temporaryDirectory } from '../support/process/local.ts'
import { blocksOf } from '../support/process/written-steps.ts'

/** A demonstration month takes over a minute if twenty busy processes share two cores. */
const patience = 240_000

/** A folder with its own `.local`, in which `npm run …` works as in the repository. */
async function newcomer() {
  const { directory, remove } = await temporaryDirectory()
  onTestFinished(remove)
  const commands = commandsFolder()
  const scripts = {
    start: `exec node ${commands}/run.mjs start`,
    'demo:month': `exec node ${commands}/run.mjs demo:month`,
  }
  await writeFile(join(directory, 'package.json'), JSON.stringify({ scripts }))
  const env = { PATH: process.env.PATH, HOME: directory, PORT: '0', SANDBOX_PORT: '0' }

  /** A terminal that keeps its state from block to block, as a reader's does. */
  function terminal() {
    const bash = spawn('bash', [], { cwd: directory, env, stdio: ['pipe', 'pipe', 'pipe'] })
    onTestFinished(() => void bash.kill('SIGKILL'))
    let said = ''
    for (const stream of [bash.stdout, bash.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        said += text
      })
    return async (block: string): Promise<string> => {
      const end = randomUUID()
      const began = said.length
      bash.stdin.write(`${block}\necho; echo ${end}\n`)
      await expect.poll(() => said.includes(end), { timeout: patience, interval: 20 }).toBe(true)
      return said.slice(began, said.indexOf(end))
    }
  }

  /** `npm start` in its own terminal, until it says that it is ready. */
  async function start() {
    const child = spawn('npm', ['start'], { cwd: directory, env, detached: true })
    const ended = once(child, 'close')
    onTestFinished(async () => {
      if (child.pid !== undefined && child.exitCode === null && child.signalCode === null)
        process.kill(-child.pid, 'SIGTERM')
      await ended
    })
    let said = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      said += text
    })
    await expect.poll(() => said, { timeout: patience, interval: 20 }).toMatch(/^ready /m)
    return said
  }

  return { directory, terminal, start }
}

// A new ledger would hide faults, because no budget owns the stand-in's projects there.
test('the README works as written on the ledger of npm run demo:month', async () => {
  const { directory, terminal, start } = await newcomer()
  const run = terminal()
  expect(await run('npm run demo:month')).toContain('every counter is the sum of its lines')
  // Without the deletion, a killed process leaves changes, and the next process announces the month.
  const { file } = await openFile(join(directory, '.local'), 'ledger.db')
  expect(firstValue(file.db, "SELECT seq FROM sqlite_sequence WHERE name = 'changes'") ?? 0).toBe(0)
  file.db.close()
  expect(await start()).toContain('source .local/env')

  const blocks = await blocksOf('README.md', 'Use it')
  const next = () => run(blocks.shift() ?? 'false')
  expect(await next()).toBe('\n')
  const made = await next()
  expect(made).toContain('"project":"tea.example"')
  expect(made).toContain('"name":"tea","parent":"account","limits":[{"window":"month","units":10}]')
  expect(await next()).toMatch(/"state":"settled".*"units":\{"estimated":6,"held":6,"charged":6\}/)
  expect(await next()).toContain('tea has 4 of 10 units left this month and this needs 6; resets')
  expect(blocks).toEqual([])

  const [tool = ''] = await blocksOf('README.md', 'Point your tool here')
  const answered = await run(tool)
  expect(answered).toContain('tea.example')
  expect(answered).toMatch(/unit-guard-update: upd_|"title"/i)
}, 600_000)
