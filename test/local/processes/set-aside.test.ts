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
import { runHere } from '../../support/process/here.ts'
import { newFolder, startGuard } from '../../support/process/local.ts'
import { startSlackChannel } from '../../support/slack/slack.ts'

test('GET /status and doctor count a change that was set aside, and npm run sweep announces it', async () => {
  const directory = await newFolder()
  const slack = await startSlackChannel({})
  onTestFinished(() => slack.close())
  const env = { DATA_DIR: directory, SLACK_WEBHOOK_URL: slack.webhookUrl, DEMO: 'off' }
  await (await startGuard(env)).stop()

  const { file } = await openFile(directory, 'ledger.db')
  const clock = systemClock
  const store = createSqliteStore(file, { clock })
  const settings = parseSettings(guardSettings, { ...readEnvFile(directory), TABLE_NAME: 'ledger.db' })
  const about = { kind: 'stopped', what: 'budget', name: 'seo', by: 'ada', reason: 'a loop', isStopped: true } as const
  await openLedger(settings, { clock, store }).announcements.add(announcement('frozen', clock.now(), about))
  await file.write(() => file.db.exec('UPDATE changes SET people = -1'))

  const { call } = await startGuard(env)
  const status = async () => (await call('/status')).body
  expect(await status()).toMatchObject({ setAside: 1, troubles: [{ slug: 'set-aside' }] })
  expect((await runHere('doctor', [], env)).out).toContain(
    '1 change was not passed on, so updates may wait and messages may be missing. Run npm run sweep.',
  )
  expect(slack.posted()).toEqual([])

  const sweep = await runHere('sweep', [], env)
  expect(sweep.out).toContain('changes that were set aside, and are tried again while Unit Guard runs: 1')
  await expect
    .poll(() => slack.posted().map(({ text }) => text), { timeout: patienceMs })
    .toEqual([expect.stringContaining('ada froze the budget seo')])
  expect(await status()).toMatchObject({ setAside: 0 })
})
