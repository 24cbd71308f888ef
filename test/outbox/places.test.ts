import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { startBackground } from '../../infra/local/background.ts'
import { createBell, followChanges } from '../../infra/local/database/changes.ts'
import { openFile } from '../../infra/local/database/file.ts'
import { firstValue, type readers } from '../../shared/ledger/store/sqlite-file.ts'
import { createSqliteStore } from '../../shared/ledger/store/sqlite-store.ts'
import { announcement } from '../../shared/ledger/updates/tasks.ts'
import { systemClock } from '../../shared/platform/clock.ts'
import { patienceMs } from '../support/patience.ts'
import { startProduct } from '../support/product.ts'
import { startReceiver, targetAt } from '../support/receiver.ts'

// The readers of one machine as npm start runs them, over the changes in a file.

type Options = Parameters<typeof startProduct>[0]

async function startedOnFile(options: Options) {
  const { file } = await openFile(await mkdtemp(join(tmpdir(), 'ledger-')), 'ledger.db')
  const bell = createBell()
  const store = createSqliteStore(file, { clock: systemClock, onChanges: bell.ring })
  const product = await startProduct({ store, stream: false, ...options })
  const readAll = async () => {
    const background = await startBackground(product.services, {
      follow: async (services, reader) => followChanges({ ...services, file, bell }, reader),
      file,
      plans: null,
    })
    onTestFinished(() => background.stop(Promise.resolve()))
    return background
  }
  const unread = (name: (typeof readers)[number]) =>
    Number(firstValue(file.db, `SELECT count(*) FROM changes WHERE ${name} IS NOT NULL`))
  const announce = (id: string) => {
    const about = {
      kind: 'stopped',
      what: 'budget',
      name: 'seo',
      by: 'ada',
      reason: 'a loop',
      isStopped: true,
    } as const
    return product.guard.ledger.announcements.add(announcement(id, product.clock.now(), about))
  }
  const run = (project: string, headers = {}) => product.update({ kind: 'ranking', project }, { headers })
  return { product, readAll, unread, announce, run }
}

const until = (isSo: () => boolean | Promise<boolean>) =>
  expect.poll(isSo, { timeout: patienceMs, interval: 20 }).toBe(true)

const tenTimes = Array.from({ length: 10 }, (_, index) => `${index}`)

test('a Slack that hangs delays no event for other systems', async () => {
  const warehouse = await startReceiver()
  const slack = { answers: [{ kind: 'hang' }] } as const
  const { readAll, unread, announce, run } = await startedOnFile({ slack, targets: [targetAt(warehouse.url)] })
  for (const each of tenTimes) await announce(each)
  await readAll()
  await run('acme')
  await until(() => warehouse.types().includes('unit-guard.update.settled'))
  expect(unread('people')).toBeGreaterThan(0)
})

test('a system that hangs delays no announcement in Slack', async () => {
  const warehouse = await startReceiver(() => {})
  const { product, readAll, unread, announce, run } = await startedOnFile({
    slack: true,
    targets: [targetAt(warehouse.url)],
  })
  for (const each of tenTimes) await run(each)
  await announce('frozen')
  await readAll()
  await until(() => product.slack.posted().length > 0)
  expect(unread('systems')).toBeGreaterThan(0)
})

test('a start that hangs delays neither other starts nor the end of the process, and is not repeated', async () => {
  const hang = { kind: 'hang' } as const
  const { product, readAll, unread, run } = await startedOnFile({
    service: ({ url }) => (url.includes('slow') && url.includes('/run') ? hang : undefined),
  })
  const runs = () => product.seen('run').length
  const stateOf = async (id: string) => (await product.call('GET', `/updates/${id}`)).body.state
  const queue = async (project: string): Promise<string> =>
    (await run(project, { prefer: 'respond-async' })).body.updates[0].id
  const first = await readAll()
  const slow = await queue('slow')
  await until(() => runs() === 1)
  const other = await queue('acme')
  await until(async () => (await stateOf(other)) === 'settled')
  await first.stop(sleep(10))
  expect(unread('start')).toBe(1)

  await readAll()
  await until(() => unread('start') === 0)
  expect(await stateOf(slow)).toBe('running')
  expect(runs()).toBe(2)
})
