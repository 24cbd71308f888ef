import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest'
import { demonstrationProjects } from '../../../functions/sandbox/demonstration.ts'
import { createState } from '../../../functions/sandbox/state.ts'
import { openFile } from '../../../infra/local/database/file.ts'
import { keepMonth } from '../../../infra/local/demo/month.ts'
import { createRequest } from '../../../infra/local/demo/player.ts'
import { ledgerFile } from '../../../infra/local/settings.ts'
import { monthBefore } from '../../../shared/ledger/definitions/windows.ts'
import { createSqliteStore } from '../../../shared/ledger/store/sqlite-store.ts'
import type { Store } from '../../../shared/ledger/store/store.ts'
import { systemClock } from '../../../shared/platform/clock.ts'
import { createLog } from '../../../shared/platform/log.ts'
import { reportsOf } from '../../../shared/reports/reports.ts'
import { createServices } from '../../../shared/services/services.ts'
import { dynamodb } from '../../support/dynamodb/endpoint.ts'
import { type PlayedMonth, playedMonth } from '../../support/month.ts'
import { runHere } from '../../support/process/here.ts'
import { newFolder } from '../../support/process/local.ts'
import { startParameters } from '../../support/process/parameters.ts'
import { itemsIn, moveBack } from '../../support/store/back.ts'
import { storeOf } from '../../support/store/copy.ts'
import { createLocalTable } from '../../support/store/stores.ts'

// The month of `npm run demo:month` goes into a table and back.

const playedWithinMs = 90_000

let month: PlayedMonth
beforeAll(async () => {
  // The command uses this machine's clock, and audits the books of that time.
  month = await playedMonth(new Date().toISOString())
}, playedWithinMs)
afterAll(() => month?.close())

/** The ledger's own results: its audit, statements of two months by everything, lists, and the summary of each budget. */
async function accountsOf(store: Store) {
  const { settings, clock } = month.scenario
  const { guard } = createServices(settings, { clock, store, log: createLog({ write: () => {}, now: clock.now }) })
  const keys = ['budget', 'project', 'caller'] as const
  const reports = await reportsOf(guard)
  const { view, budgets } = await reports.outlook()
  const months = [monthBefore(view.definitions.calendar, view.month).name, view.month.name]
  const statements = await Promise.all(months.flatMap((name) => keys.map((key) => reports.statement(name, key))))
  return {
    audit: (await guard.ledger.audit()).toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1)),
    statements: statements.map((each) => each && { ...each, view: null }),
    budgets,
    book: view.book,
    updates: (await guard.ledger.updates({}, 500)).rows,
    entries: await Promise.all(months.map(async (name) => (await guard.ledger.entries({ month: name }, 500)).rows)),
  }
}

describe.skipIf(inject('dynamodb') === null)('the demonstration month', () => {
  test('the demonstration month does not move while two updates are in doubt, and stays unchanged', async () => {
    const { scenario } = month
    const directory = await newFolder()
    const { file } = await openFile(directory, ledgerFile)
    const store = createSqliteStore(file, { clock: systemClock })
    const to = await createLocalTable()
    const parameters = await startParameters({ '/unit-guard/ledger': 'none' })
    onTestFinished(parameters.close)
    const env = {
      DATA_DIR: directory,
      AWS_ENDPOINT_URL_DYNAMODB: await dynamodb(),
      AWS_ENDPOINT_URL_SSM: parameters.url,
      AWS_REGION: 'local',
      AWS_ACCESS_KEY_ID: 'local',
      AWS_SECRET_ACCESS_KEY: 'local',
    }
    const sandbox = () => createState(demonstrationProjects(scenario.startAt))
    const keep = async () => {
      file.db.exec('DELETE FROM items; DELETE FROM tokens')
      await keepMonth(scenario, { store, sandbox: sandbox(), unitsPerMonth: 100_000 })
    }

    await keep()
    const unread = await runHere('restore', ['--to', to.table], env)
    expect(unread.err).toMatch(/^The ledger cannot move now: 2 updates are in doubt and \d+ changes are unread\. /)
    file.db.exec('DELETE FROM changes')
    const doubted = await runHere('restore', ['--to', to.table], env)
    expect([doubted.code, doubted.err]).toEqual([
      1,
      expect.stringMatching(/^The ledger cannot move now: 2 updates are in doubt\. /),
    ])

    const request = createRequest(scenario)
    for (const { id } of (await scenario.guard.ledger.open('in-doubt', 10)).rows)
      await request('mira', `POST /updates/${id}/resolve`, { outcome: 'ran', reason: 'the vendor says so' })
    await keep()
    file.db.exec('DELETE FROM changes')
    const before = { accounts: await accountsOf(store), items: itemsOf(file.db) }
    expect(before.accounts.audit.length).toBeGreaterThan(10)
    expect(before.accounts.audit.filter(({ ok }) => !ok)).toEqual([])
    expect(before.accounts.statements.filter((each) => each?.addsUp !== true)).toEqual([])

    const moved = await runHere('restore', ['--to', to.table], env)
    expect(moved.err).toBe('')
    expect(moved.code).toBe(0)
    expect(rest(await itemsIn(to))).toEqual(rest(before.items))
    expect(await accountsOf(storeOf(to))).toEqual(before.accounts)

    const back = await moveBack(to, await newFolder())
    expect(rest(itemsOf(back.file.db))).toEqual(rest(before.items))
    expect(await accountsOf(back.store)).toEqual(before.accounts)
    back.file.db.close()
    file.db.close()
  }, 60_000)
})

const nameOf = ({ window, budget }: { window: string; budget: string }) => `${window} ${budget}`

const itemsOf = (db: Awaited<ReturnType<typeof openFile>>['file']['db']) =>
  (db.prepare('SELECT CAST(substr(item, 5) AS TEXT) FROM items').raw().all() as [string][]).map(([item]) =>
    JSON.parse(item),
  )

/** Everything except the table and the epoch. */
const rest = (items: readonly { readonly pk: string }[]) =>
  items
    .map((item) => (item.pk === 'definitions' ? { ...item, identity: { ...Object(item).identity, ...unknown } } : item))
    .toSorted((a, b) => (a.pk < b.pk ? -1 : 1))

const unknown = { table: null, epoch: null }
