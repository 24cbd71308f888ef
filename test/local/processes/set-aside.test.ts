import { expect, onTestFinished, test } from 'vitest'
import { readEnvFile } from '../../../infra/local/data-directory.ts'
import { openFile } from '../../../infra/local/database/file.ts'
import { guardSettings } from '../../../shared/guard/options.ts'
import { openLedger } from '../../../shared/ledger/open-ledger.ts'
import { createSqliteStore } from '../../../shared/ledger/store/sqlite-store.ts'
import { announcement } from '../../../shared/ledger/updates/tasks.ts'
import { systemClock } from '../../../shared/platform/clock.ts'
import { parseSettings } from '../../../shared/platform/settings.ts'
import { patienceMs } from '../../support/patience.ts'
import { runLocal, spawnLocal, temporaryDirectory } from '../../support/process/local.ts'
import { startSlackChannel } from '../../support/slack/slack.ts'

test('a change that was set aside is counted by GET /status and doctor, and told after npm run sweep', async () => {
  const { directory, remove } = await temporaryDirectory()
  onTestFinished(remove)
  const slack = await startSlackChannel({})
  onTestFinished(() => slack.close())
  const env = { DATA_DIR: directory, SLACK_WEBHOOK_URL: slack.webhookUrl, DEMO: 'off' }
  const start = async () => {
    const server = spawnLocal('start', { env })
    onTestFinished(() => server.signalGroup('SIGKILL'))
    return { ...server, url: await server.ready() }
  }
  const first = await start()
  first.signal('SIGTERM')
  await first.ended

  const { file } = await openFile(directory, 'ledger.db')
  const clock = systemClock
  const store = createSqliteStore(file, { clock })
  const settings = parseSettings(guardSettings, { ...readEnvFile(directory), TABLE_NAME: 'ledger.db' })
  const about = { kind: 'stopped', what: 'budget', name: 'seo', by: 'ada', reason: 'a loop', isStopped: true } as const
  await openLedger(settings, { clock, store }).announcements.add(announcement('frozen', clock.now(), about))
  await file.write(() => file.db.exec('UPDATE changes SET people = -1'))

  const { url } = await start()
  const status = async () => {
    const headers = { authorization: `Bearer ${readEnvFile(directory).UNIT_GUARD_TOKEN}` }
    return (await fetch(`${url}/status`, { headers })).json()
  }
  expect(await status()).toMatchObject({ setAside: 1 })
  expect((await runLocal('doctor', [], env)).out).toContain('run npm run sweep: changes could not be passed on (1)')
  expect(slack.posted()).toEqual([])

  const sweep = await runLocal('sweep', [], env)
  expect(sweep.out).toContain('changes that were set aside, and are read again while Unit Guard runs: 1')
  await expect
    .poll(() => slack.posted().map(({ text }) => text), { timeout: patienceMs })
    .toEqual([expect.stringContaining('ada froze the budget seo')])
  expect(await status()).toMatchObject({ setAside: 0 })
})
