import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { beforeAll, describe, expect, test } from 'vitest'
import { createDynamoStore } from '../../shared/ledger/store/dynamo-store.ts'
import { faultOf } from '../../shared/ledger/store/dynamo-transaction.ts'
import type { Store, Write } from '../../shared/ledger/store/store.ts'
import { systemIds } from '../../shared/platform/ids.ts'
import { stores } from '../support/store/stores.ts'

describe.each(stores)('the store contract: %s', (_name, create) => {
  let store: Store
  let token = 0
  const transact = (...writes: Write[]) => store.transact(writes, `token-${token++}`)
  const put = (pk: string, fields: object = {}, when: Write['when'] = []): Write => ({
    kind: 'put',
    item: { pk, sk: 's', ...fields },
    when: when.length > 0 ? when : [{ kind: 'absent-item' }],
  })

  beforeAll(async () => {
    store = await create()
  })

  test('get: returns items in the order of their keys, and undefined for what is absent', async () => {
    await transact(put('get-1', { n: 1, list: [1, 'two', null, true], map: { inner: { x: 1 } } }))
    expect(await store.get([key('none'), key('get-1')])).toEqual([
      undefined,
      { pk: 'get-1', sk: 's', n: 1, list: [1, 'two', null, true], map: { inner: { x: 1 } } },
    ])
  })

  test('get: returns a repeated key twice', async () => {
    await transact(put('twice-read', { n: 1 }))
    const item = { pk: 'twice-read', sk: 's', n: 1 }
    const keys = [key('twice-read'), key('none'), key('twice-read'), key('none')]
    expect(await store.get(keys)).toEqual([item, undefined, item, undefined])
  })

  test('put: leaves out undefined members', async () => {
    await transact(put('undefined', { gone: undefined, inner: { gone: undefined, here: 1 } }))
    expect(await store.get([key('undefined')])).toEqual([{ pk: 'undefined', sk: 's', inner: { here: 1 } }])
  })

  test('a write without a condition replaces the item', async () => {
    const always = (n: number): Write => ({ kind: 'put', item: { pk: 'always', sk: 's', n }, when: [] })
    expect([await transact(always(1)), await transact(always(2))]).toEqual([{ applied: true }, { applied: true }])
    expect(await store.get([key('always')])).toEqual([{ pk: 'always', sk: 's', n: 2 }])
  })

  test('a failed condition applies nothing and returns the item that was found', async () => {
    await transact(put('found', { n: 1 }))
    const outcome = await transact(put('not-applied'), put('found', { n: 2 }))
    expect(outcome).toEqual({ applied: false, found: [undefined, { pk: 'found', sk: 's', n: 1 }] })
    expect(await store.get([key('not-applied')])).toEqual([undefined])
  })

  test('two writes of one item are refused without effect', async () => {
    const refused = 'one transaction writes an item twice'
    const check: Write = { kind: 'check', key: key('twice'), when: [{ kind: 'absent-item' }] }
    await expect(transact(put('twice', { n: 1 }), put('once'), put('twice', { n: 1 }))).rejects.toThrow(refused)
    await expect(transact(check, put('twice'))).rejects.toThrow(refused)
    expect(await store.get([key('twice'), key('once')])).toEqual([undefined, undefined])
  })

  test('a condition on an absent item fails and shows null', async () => {
    const outcome = await transact(put('absent', {}, [{ kind: 'equal', path: ['n'], value: 1 }]))
    expect(outcome).toEqual({ applied: false, found: [null] })
  })

  test.each<[string, Write['when'][number], boolean]>([
    ['present-item', { kind: 'present-item' }, true],
    ['absent-item', { kind: 'absent-item' }, false],
    ['equal number', { kind: 'equal', path: ['n'], value: 5 }, true],
    ['equal, other number', { kind: 'equal', path: ['n'], value: 6 }, false],
    ['equal text', { kind: 'equal', path: ['t'], value: 'day:2026-11-20' }, true],
    ['equal, absent path', { kind: 'equal', path: ['x', 'y'], value: 1 }, false],
    ['at-least, equal', { kind: 'at-least', path: ['m', 'a-b', 'c'], value: 7 }, true],
    ['at-least, below', { kind: 'at-least', path: ['m', 'a-b', 'c'], value: 8 }, false],
    ['at-least, absent path', { kind: 'at-least', path: ['m', 'none', 'c'], value: 0 }, false],
    ['at-most, equal', { kind: 'at-most', path: ['m', 'a-b', 'c'], value: 7 }, true],
    ['at-most, above', { kind: 'at-most', path: ['m', 'a-b', 'c'], value: 6 }, false],
    ['at-most, absent path', { kind: 'at-most', path: ['m', 'none', 'c'], value: 9 }, false],
    ['before, earlier', { kind: 'before', path: ['t'], value: 'day:2026-11-21' }, true],
    ['before, same', { kind: 'before', path: ['t'], value: 'day:2026-11-20' }, false],
    ['absent path', { kind: 'absent', path: ['none'] }, true],
    ['absent, but present', { kind: 'absent', path: ['n'] }, false],
  ])('a check passes or fails with the condition %s', async (name, condition, expected) => {
    const fields = { n: 5, t: 'day:2026-11-20', m: { 'a-b': { c: 7 } } }
    await transact(put(`condition ${name}`, fields))
    const outcome = await transact({ kind: 'check', key: key(`condition ${name}`), when: [condition] })
    expect(outcome.applied).toBe(expected)
  })

  test('update: sets and adds below maps, and keeps the rest', async () => {
    await transact(put('update', { day: { seo: { a: 10, h: 0 } }, today: 'one', kept: true }))
    await transact({
      kind: 'update',
      key: key('update'),
      set: [
        [['today'], 'two'],
        [['day', 'new'], { a: 1 }],
      ],
      add: [
        [['day', 'seo', 'a'], -4],
        [['day', 'seo', 'h'], 4],
      ],
      when: [{ kind: 'present-item' }],
    })
    expect(await store.get([key('update')])).toEqual([
      { pk: 'update', sk: 's', day: { seo: { a: 6, h: 4 }, new: { a: 1 } }, today: 'two', kept: true },
    ])
  })

  test('update: adding below a missing map is an error and changes nothing', async () => {
    await transact(put('broken', { n: 1 }))
    const broken: Write = {
      kind: 'update',
      key: key('broken'),
      set: [[['n'], 2]],
      add: [[['none', 'a'], 1]],
      when: [{ kind: 'present-item' }],
    }
    await expect(transact(broken)).rejects.toThrow()
    expect(await store.get([key('broken')])).toEqual([{ pk: 'broken', sk: 's', n: 1 }])
  })

  test('the same transaction under the same token is applied once', async () => {
    await transact(put('added-twice', { n: 1 }))
    const add: Write = {
      kind: 'update',
      key: key('added-twice'),
      set: [],
      add: [[['n'], 1]],
      when: [{ kind: 'present-item' }],
    }
    expect(await store.transact([add], 'same-token')).toEqual({ applied: true })
    expect(await store.transact([add], 'same-token')).toEqual({ applied: true })
    expect(await store.get([key('added-twice')])).toEqual([{ pk: 'added-twice', sk: 's', n: 2 }])
  })

  test('list: one partition in order, with bounds, pages and both directions', async () => {
    for (const n of ['3', '1', '5', '2', '4'])
      await transact(
        put(`listed-${n}`, {
          listedIn: 'p',
          listedAt: `2026-0${n}`,
          openAs: n === '2' ? 'q' : undefined,
          openSince: 'x',
        }),
      )
    const names = (page: { positions: readonly { pk: string }[] }) => page.positions.map(({ pk }) => pk)
    const base = { index: 'by-time', partition: 'p', newestFirst: true } as const

    expect(names(await store.list({ ...base, limit: 10 }))).toEqual([
      'listed-5',
      'listed-4',
      'listed-3',
      'listed-2',
      'listed-1',
    ])
    expect(names(await store.list({ ...base, newestFirst: false, limit: 2 }))).toEqual(['listed-1', 'listed-2'])
    expect(names(await store.list({ ...base, from: '2026-02', to: '2026-04', limit: 10 }))).toEqual([
      'listed-4',
      'listed-3',
      'listed-2',
    ])
    const oldest = { ...base, newestFirst: false, limit: 2 }
    const [, second] = (await store.list(oldest)).positions
    expect(names(await store.list({ ...oldest, ...(second && { after: second }) }))).toEqual(['listed-3', 'listed-4'])
    const first = await store.list({ ...base, limit: 3 })
    expect(first.more).toBe(true)
    const after = first.positions[2]
    expect(after).toEqual({ pk: 'listed-3', sk: 's', sort: '2026-03' })
    expect(names(await store.list({ ...base, limit: 3, ...(after && { after }) }))).toEqual(['listed-2', 'listed-1'])
    expect(names(await store.list({ ...base, newestFirst: false, limit: 3, ...(after && { after }) }))).toEqual([
      'listed-4',
      'listed-5',
    ])
    expect(names(await store.list({ ...base, index: 'open', partition: 'q', limit: 3 }))).toEqual(['listed-2'])
    expect((await store.list({ ...base, partition: 'none', limit: 3 })).positions).toEqual([])
  })

  test.each([true, false])('list: begins or ends at a single bound; newest first: %s', async (newestFirst) => {
    const partition = `bounds-${newestFirst}`
    const at = (n: number) => ({ pk: `${partition}-${n}`, sk: 's', sort: `2026-0${n}` })
    for (const n of [1, 2, 3, 4]) await transact(put(at(n).pk, { listedIn: partition, listedAt: at(n).sort }))
    const listed = async (bounds: { from?: string; to?: string }, after?: number) => {
      const query = { index: 'by-time', partition, newestFirst, limit: 10, ...bounds } as const
      const { positions } = await store.list({ ...query, ...(after !== undefined && { after: at(after) }) })
      return positions.map(({ pk }) => Number(pk.at(-1)))
    }
    const inOrder = (...oldestFirst: number[]) => (newestFirst ? oldestFirst.toReversed() : oldestFirst)
    const [from, to] = [{ from: '2026-02' }, { to: '2026-03' }]
    expect(await listed(from)).toEqual(inOrder(2, 3, 4))
    expect(await listed(to)).toEqual(inOrder(1, 2, 3))
    expect(await listed(from, 3)).toEqual(newestFirst ? [2] : [4])
    expect(await listed(to, 2)).toEqual(newestFirst ? [1] : [3])
  })
})

test.each([
  ['ValidationException', 'Item size has exceeded the maximum allowed size', 'too-large'],
  ['ValidationException', 'One or more parameter values were invalid', 'broken'],
  ['InternalServerError', 'Item size has exceeded the maximum allowed size', 'lost'],
])('a %s of DynamoDB that says “%s” is %s', (name, message, kind) => {
  expect(faultOf(Object.assign(new Error(message), { name })).kind).toBe(kind)
})

test.each([
  ['Item size to update has exceeded the maximum allowed size', 'too-large'],
  ['The provided expression refers to an attribute that does not exist in the item', 'broken'],
])('a cancelled transaction that says “%s” is %s', (Message, kind) => {
  const CancellationReasons = [{ Code: 'None' }, { Code: 'ValidationError', Message }]
  const name = 'TransactionCanceledException'
  expect(faultOf(Object.assign(new Error('cancelled'), { name, CancellationReasons })).kind).toBe(kind)
})

test('a read ends after four answers of DynamoDB that leave the same key unprocessed', async () => {
  let requests = 0
  const Keys = [{ pk: { S: 'a' }, sk: { S: 's' } }]
  const send = async () => {
    requests++
    return { UnprocessedKeys: { table: { Keys } } }
  }
  const client = { send } as unknown as DynamoDBClient
  const clock = { now: () => 0, sleep: async () => {} }
  const store = createDynamoStore({ client, table: 'table', clock, ids: systemIds })
  await expect(store.get([key('a')])).rejects.toThrow('DynamoDB leaves keys unprocessed')
  expect(requests).toBe(4)
})

const key = (pk: string) => ({ pk, sk: 's' })
