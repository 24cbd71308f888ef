import { describe, expect, test } from 'vitest'
import type { Definitions } from '../../shared/ledger/definitions/definitions.ts'
import type { Item, Write } from '../../shared/ledger/store/store.ts'
import type { Run, Update } from '../../shared/ledger/updates/update.ts'
import {
  fromWorkItem,
  noteRun,
  runsIn,
  takeWork,
  type Work,
  workKey,
  workKeyOf,
  workKeysOf,
} from '../../shared/ledger/updates/work.ts'
import { toUnits } from '../../shared/platform/words.ts'
import { createMemoryStore } from '../support/store/memory-store.ts'

const key = workKey('ranking', 'acme').pk
const run = (at: number, units = 40): Run => ({ update: `upd_${at}`, at, units: toUnits(units) })
const update = { id: 'upd_new', kind: 'ranking', project: 'acme' } as Update

/** A store with one item of work, or none. */
async function storeWith(work: object | null) {
  const store = createMemoryStore()
  let writes = 0
  const transact = (all: readonly Write[]) => store.transact(all, `token ${writes++}`)
  if (work) await transact([{ kind: 'put', item: { ...workKeyOf(key), ...work }, when: [] }])
  const stored = async () => (await store.get([workKeyOf(key)]))[0]
  return { stored, transact }
}

const held = { kind: 'ranking', project: 'acme', update: 'upd_old' } as const

describe('the names of a work', () => {
  const definitions = {
    budgets: {
      client: { name: 'client', projects: [{ name: 'Acme Shop', id: '1001' }] },
      other: { name: 'other', projects: [{ name: 'globex' }] },
    },
  } as unknown as Definitions

  test('a work without an owner has its own name and then the folded one', () => {
    expect(workKeysOf(null, 'ranking', 'Acme')).toEqual([workKey('ranking', 'Acme').pk, workKey('ranking', 'acme').pk])
  })

  test('a work of an owned project has the listed name and id', () => {
    const names = ['1001', 'Acme Shop', 'acme shop'].map((name) => workKey('ranking', name).pk)
    expect(workKeysOf(definitions, 'ranking', '1001')).toEqual(names)
    expect(workKeysOf(definitions, 'ranking', 'globex')).toEqual([workKey('ranking', 'globex').pk])
  })

  test('another kind of update of a project is another work', () => {
    expect(workKey('ranking', 'acme').sk).toBe('work')
    expect(workKey('keyword-difficulty', 'acme')).not.toEqual(workKey('ranking', 'acme'))
  })
})

describe('a hold that takes the work', () => {
  test('a free work is taken with version 1, and only once', async () => {
    const { stored, transact } = await storeWith(null)
    const writes = takeWork(update, [{ key, work: null }], [])
    expect((await transact(writes)).applied).toBe(true)
    expect(await stored()).toEqual({ ...workKeyOf(key), ...held, update: 'upd_new', version: 1 })
    expect((await transact(takeWork(update, [{ key, work: null }], [run(1)]))).applied).toBe(false)
  })

  test.each([
    ['the seen version', { ...held, version: 3 }, { ...held, version: 3 }, true],
    ['another version', { ...held, version: 4 }, { ...held, version: 3 }, false],
  ])('a hold takes a work only as it was read: %s', async (_, before, seen, applied) => {
    const { stored, transact } = await storeWith(before)
    expect((await transact(takeWork(update, [{ key, work: seen }], []))).applied).toBe(applied)
    expect((await stored())?.update).toBe(applied ? 'upd_new' : before.update)
    if (applied) expect((await stored())?.version).toBe(seen.version + 1)
  })

  test('a taken work remembers its ten newest runs, the newest first', async () => {
    const { stored, transact } = await storeWith(null)
    const runs = [5, 12, 1, 9, 3, 11, 2, 8, 4, 10, 7, 6].map((at) => ({ ...run(at), more: 'not stored' }))
    await transact(takeWork(update, [{ key, work: null }], runs))
    const item = await stored()
    expect(item?.ran).toEqual(run(12))
    expect(item?.earlier).toEqual([11, 10, 9, 8, 7, 6, 5, 4, 3].map((at) => run(at)))
  })
})

describe('a run that becomes known later', () => {
  test('a run that becomes known replaces the older record of the same run, and keeps the holder', async () => {
    const before = { ...held, version: 2, ran: run(7, 1), earlier: [run(9)] }
    const { stored, transact } = await storeWith(before)
    expect((await transact(noteRun(run(7), [{ key, work: before }]))).applied).toBe(true)
    expect(await stored()).toEqual({ ...workKeyOf(key), ...held, version: 3, ran: run(9), earlier: [run(7)] })
    expect((await transact(noteRun(run(8), [{ key, work: before }]))).applied).toBe(false)
  })

  test('a work without an item records nothing', () => {
    expect(noteRun(run(1), [{ key, work: null }])).toEqual([])
  })
})

describe('a stored work', () => {
  test.each<[string, Partial<Work>, readonly Run[]]>([
    ['no run', {}, []],
    ['one run', { ran: run(2) }, [run(2)]],
    ['several runs', { ran: run(2), earlier: [run(1)] }, [run(2), run(1)]],
    ['only earlier runs', { earlier: [run(1)] }, [run(1)]],
  ])('a work with %s is read back', (_, runs, known) => {
    const work = fromWorkItem({ ...workKeyOf(key), ...held, version: 1, ...runs } as unknown as Item)
    expect(work).toEqual({ ...held, version: 1, ...runs })
    expect(runsIn(work)).toEqual(known)
  })
})
