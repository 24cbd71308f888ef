import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import {
  createBell,
  followChanges,
  type StreamEvent,
  setAsideIn,
  tryAgain,
} from '../../infra/local/database/changes.ts'
import { openFile } from '../../infra/local/database/file.ts'
import { passTime } from '../../shared/ledger/store/running-time.ts'
import type { readers } from '../../shared/ledger/store/sqlite-file.ts'
import { createSqliteStore } from '../../shared/ledger/store/sqlite-store.ts'
import type { Item, Store } from '../../shared/ledger/store/store.ts'
import { readChanges } from '../../shared/ledger/stream.ts'
import { systemClock } from '../../shared/platform/clock.ts'
import { systemIds } from '../../shared/platform/ids.ts'
import { days, hours, minutes } from '../support/clock.ts'
import { isFor } from '../support/infra/stream-filter.ts'
import { patienceMs } from '../support/patience.ts'
import { builtProgram, temporaryDirectory } from '../support/process/local.ts'
import { diesAtEachStep } from '../support/process/mortal.ts'
import { withStream } from '../support/store/memory-stream.ts'

const put = (store: Store, ...items: readonly Item[]) =>
  store.transact(
    items.map((item) => ({ kind: 'put', item, when: [] })),
    systemIds.random(),
  )

const update = (number: number, more: object = {}): Item => ({
  pk: `update#upd_${number}`,
  sk: 'update',
  state: 'requested',
  ...more,
})

async function openLedger() {
  const { directory, remove } = await temporaryDirectory()
  onTestFinished(remove)
  const { file } = await openFile(directory, 'ledger.db')
  const bell = createBell()
  const store = createSqliteStore(file, { clock: systemClock, onChanges: bell.ring })
  return { directory, file, bell, store }
}

type Ledger = Awaited<ReturnType<typeof openLedger>>

/** @param read handles the items of a batch and returns those that fail. */
function follow(
  { file, bell }: Pick<Ledger, 'file' | 'bell'>,
  read: (items: readonly string[]) => Promise<readonly string[]> | readonly string[],
  { name = 'systems' }: { name?: (typeof readers)[number] } = {},
) {
  const seen: string[][] = []
  const logged: string[] = []
  const log = { info() {}, error: (event: string) => void logged.push(event), hide() {} }
  const itemOf = (record: StreamEvent['Records'][number]) => record.dynamodb.Keys.pk?.S ?? ''
  const follower = followChanges(
    { file, bell, log, repeatsAfterMs: 1 },
    {
      name,
      batchSize: 10,
      batchesAtOnce: 1,
      read: async ({ Records }) => {
        const items = Records.map(itemOf)
        seen.push(items)
        const failed = await read(items)
        const failures = Records.filter((record) => failed.includes(itemOf(record)))
        return { batchItemFailures: failures.map(({ dynamodb }) => ({ itemIdentifier: dynamodb.SequenceNumber })) }
      },
    },
  )
  const stop = () => follower.stop(sleep(5_000, undefined, { ref: false }))
  onTestFinished(stop)
  return { seen, logged, stop }
}

const waiting = ({ file }: Pick<Ledger, 'file'>) =>
  file.db.prepare('SELECT CAST(substr(change, 5) AS TEXT) FROM changes').raw().all() as [string][]

const waitingFor = ({ file }: Pick<Ledger, 'file'>, name: (typeof readers)[number]): number =>
  file.db.prepare(`SELECT id FROM changes WHERE ${name} IS NOT NULL`).all().length

const until = (isSo: () => boolean) => expect.poll(isSo, { timeout: patienceMs, interval: 5 }).toBe(true)

const none = () => []

describe('changes in the ledger’s file', () => {
  const items: readonly Item[] = [
    update(1, { state: 'requested', version: 1, traceparent: '00-a-b-01', units: 40 }),
    update(2, { state: 'awaiting-approval', version: 3, approvableUntil: 5, openAs: 'open' }),
    update(3, { state: 'in-doubt', version: 4, doubt: { at: 7 } }),
    { pk: 'slack-event#slk_1', sk: 'event', text: 'spend' },
    { pk: 'announcement#upd_1#x', sk: 'announcement', openAs: 'open-announcement' },
    { pk: 'entry#ent_1', sk: 'entry', subjects: ['account', 'demo'] },
    { pk: 'book', sk: 'book', counters: {} },
    { pk: 'definitions', sk: 'definitions' },
  ]

  test.each<[(typeof readers)[number], Parameters<typeof isFor>[0]]>([
    ['start', 'start'],
    ['people', 'tell'],
    ['systems', 'tellEvents'],
  ])('the reader %s gets from the file what it gets from a stream with the filter %s', async (name, filter) => {
    const ledger = await openLedger()
    const streamed: StreamEvent[] = []
    const store = withStream(ledger.store, (event) => streamed.push(event))
    const read: StreamEvent['Records'][number][] = []
    const follower = followChanges(
      { ...ledger, log: { info() {}, error() {}, hide() {} } },
      {
        name,
        batchSize: 100,
        batchesAtOnce: 1,
        read: async ({ Records }) => {
          read.push(...Records)
          return { batchItemFailures: [] }
        },
      },
    )
    onTestFinished(() => follower.stop(Promise.resolve()))
    for (const when of [[{ kind: 'absent-item' }], []] as const)
      await store.transact(
        items.map((item) => ({ kind: 'put', item, when })),
        systemIds.random(),
      )
    const unread = ledger.file.db.prepare(`SELECT id FROM changes WHERE ${name} IS NOT NULL`)
    await until(() => streamed.length === 2 && unread.all().length === 0)
    await follower.stop(sleep(5_000, undefined, { ref: false }))
    const changesIn = (records: StreamEvent['Records']) =>
      readChanges({ Records: records }).map(({ sequenceNumber: _, ...change }) => change)
    // One function on AWS has both readers, and no event concerns the book.
    const isRead = (record: StreamEvent['Records'][number]) =>
      isFor(filter, record) && !(name === 'systems' && record.dynamodb.Keys.pk?.S === 'book')
    expect(changesIn(read)).toEqual(changesIn(streamed.flatMap(({ Records }) => Records).filter(isRead)))
    expect(read).not.toEqual([])
  })

  test('changes are deleted after all readers have passed them, and a refused transaction leaves no change', async () => {
    const ledger = await openLedger()
    await put(ledger.store, update(1))
    await ledger.store.transact([{ kind: 'put', item: update(1), when: [{ kind: 'absent-item' }] }], 'refused')
    expect(waiting(ledger)).toHaveLength(1)
    const tell = follow(ledger, none)
    await until(() => tell.seen.length === 1)
    await tell.stop()
    expect(waiting(ledger)).toHaveLength(1)
    const start = follow(ledger, none, { name: 'start' })
    await until(() => waiting(ledger).length === 0)
    expect(start.seen).toEqual([['update#upd_1']])
  })

  test('a reader gets changes of another process, too', async () => {
    const ledger = await openLedger()
    const { seen } = follow(ledger, none)
    const { file } = await openFile(ledger.directory, 'ledger.db')
    await put(createSqliteStore(file, { clock: systemClock }), update(1))
    await until(() => seen.length === 1)
  })

  test('changes that fail are read four times in all and then set aside, and the rest of the batch is not repeated', async () => {
    const ledger = await openLedger()
    await put(ledger.store, update(1), update(2), update(3))
    const isBroken = ['update#upd_2']
    const { seen, logged } = follow(ledger, () => isBroken)
    await until(() => setAsideIn(ledger.file.db) === 1)
    expect(seen).toEqual([['update#upd_1', 'update#upd_2', 'update#upd_3'], ...Array(3).fill(['update#upd_2'])])
    expect(logged).toEqual(['stream-records-given-up'])

    isBroken.pop()
    await put(ledger.store, update(4))
    await until(() => seen.length === 5)
    expect(seen[4]).toEqual(['update#upd_4'])
    expect(await tryAgain(ledger.file)).toBe(1)
    await until(() => seen.length === 6)
    expect(seen[5]).toEqual(['update#upd_2'])
    await until(() => setAsideIn(ledger.file.db) === 0)
  })

  test('a reader that dies at any step counts on: no change is lost, and a failed one is not read four times again', async () => {
    async function prepare() {
      const ledger = await openLedger()
      await put(ledger.store, update(1), update(2), update(3))
      return ledger
    }
    const steps = await diesAtEachStep(prepare, async (process, ledger) => {
      const read: string[] = []
      const attempt = (step: (name: string) => void) => (items: readonly string[]) => {
        step('read')
        read.push(...items)
        return ['update#upd_2']
      }
      const first = follow(ledger, attempt(process.step))
      await until(() => process.isDead() || setAsideIn(ledger.file.db) === 1)
      await first.stop()
      process.revive()
      const second = follow(
        ledger,
        attempt(() => {}),
      )
      await until(() => setAsideIn(ledger.file.db) === 1 && waitingFor(ledger, 'systems') === 1)
      await second.stop()
      expect(new Set(read)).toEqual(new Set([1, 2, 3].map((number) => update(number).pk)))
      // The first commit marks the other changes. An attempt that was not counted before the death is made again.
      const [attempts, commits] = ['read', 'commit'].map((name) => process.steps.filter((step) => step === name).length)
      const isUncounted = process.isDead() && Number(attempts) > Math.max(0, Number(commits) - 1)
      expect(read.filter((item) => item === 'update#upd_2')).toHaveLength(isUncounted ? 5 : 4)
    })
    const counted = ['read', 'commit']
    expect(steps).toEqual(['read', 'commit', 'commit', ...counted, ...counted, ...counted])
  })

  test('changes that fail for an hour are set aside; time without a process or with the clock set forward does not count', async () => {
    const ledger = await openLedger()
    await put(ledger.store, update(1))
    let now = Date.parse('2026-11-20T10:00:00Z')
    const pass = (ms: number) => {
      now += ms
      return ledger.file.write(() => passTime(ledger.file.db, now))
    }
    await pass(0)
    for (const gap of [hours(3), days(7), -days(7)]) await pass(gap)
    const { seen } = follow(ledger, async (items) => {
      for (let minute = 0; seen.length === 2 && minute < 61; minute++) await pass(minutes(1))
      return items
    })
    await until(() => setAsideIn(ledger.file.db) === 1)
    expect(seen).toHaveLength(2)
  })

  test('changes that one reader cannot handle do not delay the other reader', async () => {
    const ledger = await openLedger()
    let end = () => {}
    const held = new Promise<string[]>((resolve) => {
      end = () => resolve([])
    })
    const start = follow(ledger, () => held, { name: 'start' })
    const tell = follow(ledger, none)
    await put(ledger.store, update(1))
    await until(() => start.seen.length === 1 && tell.seen.length === 1)
    await put(ledger.store, update(2))
    await until(() => tell.seen.length === 2)
    expect(start.seen).toHaveLength(1)
    // The stop does not have to wait for the open batch.
    end()
  })

  test('changes of a batch that is read while the process stops are not read again', async () => {
    const ledger = await openLedger()
    await put(ledger.store, update(1))
    let end = () => {}
    const { seen, stop } = follow(ledger, () => new Promise((resolve) => (end = () => resolve([]))))
    await until(() => seen.length === 1)
    const stopped = stop()
    end()
    await stopped
    const next = follow(ledger, none)
    await put(ledger.store, update(2))
    await until(() => next.seen.length === 1)
    expect(next.seen).toEqual([['update#upd_2']])
  })

  test('a process that is killed repeatedly reads each change once, and at most a batch twice', async () => {
    const { directory, store } = await openLedger()
    const notes = join(directory, 'notes')
    await writeFile(notes, '')
    const noted = async () => (await readFile(notes, 'utf8')).split('\n').filter(Boolean)
    const kills = 4
    let written = 0
    for (let life = 0; life <= kills; life++) {
      const child = spawn(process.execPath, [builtProgram('follower'), directory, notes], {
        stdio: ['ignore', 'inherit', 'inherit'],
      })
      onTestFinished(() => void child.kill('SIGKILL'))
      const before = (await noted()).length
      while ((await noted()).length < before + 30) {
        expect(child.exitCode, 'the follower has ended by itself').toBeNull()
        await put(store, update(++written))
        await sleep(1)
      }
      if (life < kills) {
        child.kill('SIGKILL')
        await once(child, 'exit')
      } else await expect.poll(async () => new Set(await noted()).size, { timeout: patienceMs }).toBe(written)
    }
    const read = await noted()
    expect(new Set(read)).toEqual(new Set(Array.from({ length: written }, (_, at) => update(at + 1).pk)))
    expect(read.length - written).toBeLessThanOrEqual(10 * kills)
  })
})
