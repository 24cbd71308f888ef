import { describe, expect, test } from 'vitest'
import { foldedPage, foldRefusals, repeatedIn } from '../../../shared/guard/update/repeating-callers.ts'
import type { Problem, Update } from '../../../shared/ledger/updates/update.ts'
import { updateOf } from '../../support/records.ts'

const refusal = (slug: Problem['slug'] = 'over-budget'): Problem => ({ slug, detail: 'not enough', members: {} })
let names = 0
const refused = (changes: Partial<Update> = {}) =>
  updateOf({ id: `upd_${++names}`, state: 'refused', problem: refusal(), ...changes })

describe('refusals of a loop', () => {
  test('consecutive refusals are one row with the newest refusal, their number, and the time of the oldest', () => {
    const updates = [refused({ createdAt: 30 }), refused({ createdAt: 20 }), refused({ createdAt: 10 })]
    expect(foldRefusals(updates)).toEqual([{ update: updates[0], count: 3, since: 10 }])
    expect(foldRefusals([])).toEqual([])
  })

  test('an update between two refusals keeps them apart', () => {
    const updates = [refused(), refused(), updateOf({ state: 'settled' }), refused()]
    expect(foldRefusals(updates).map(({ update, count }) => [update.id, count])).toEqual([
      [updates[0]?.id, 2],
      ['upd_1', 1],
      [updates[3]?.id, 1],
    ])
  })

  test.each<[string, Partial<Update>]>([
    ['another caller', { caller: 'bob' }],
    ['another kind', { kind: 'keyword-difficulty' }],
    ['another project', { project: 'blog' }],
    ['another budget', { budget: 'acme' }],
    ['another reason', { problem: refusal('budget-frozen') }],
    ['a plan', { plan: 'morning' }],
    ['another state', { state: 'rejected' }],
  ])('a refusal is not folded with one of %s', (_what, changes) => {
    expect(foldRefusals([refused(), refused(changes)])).toHaveLength(2)
    expect(foldRefusals([refused(changes), refused()])).toHaveLength(2)
  })

  test('refusals of one plan are not folded', () => {
    expect(foldRefusals([refused({ plan: 'morning' }), refused({ plan: 'morning' })])).toHaveLength(2)
  })
})

describe('a page of folded refusals', () => {
  /** Pages with this many refusals each, all of one loop unless `differ`. */
  function pagesOf(sizes: readonly number[], { differ = false } = {}) {
    const cursors: (string | undefined)[] = []
    const read = async (cursor: string | undefined) => {
      cursors.push(cursor)
      const place = Number(cursor ?? 0)
      const rows = Array.from({ length: sizes[place] ?? 0 }, () => refused(differ ? { project: `p${++names}` } : {}))
      return { rows, ...(place + 1 < sizes.length && { next: String(place + 1) }) }
    }
    return { read, cursors }
  }

  test('a page of one loop reads up to the fifth page, and says where to continue', async () => {
    const { read, cursors } = pagesOf([2, 2, 2, 2, 2, 2])
    const { rows, next } = await foldedPage(read, { wanted: 2 })
    expect([rows.map(({ count }) => count), next, cursors]).toEqual([[10], '5', [undefined, '1', '2', '3', '4']])
  })

  test.each<[string, readonly number[], boolean, number, readonly unknown[]]>([
    ['there are as many rows as wanted', [2, 2], true, 2, [2, '1', 1]],
    ['a page is shorter than wanted', [1, 2], false, 2, [1, '1', 1]],
    ['it was the last page', [2], false, 2, [1, undefined, 1]],
    ['the last of several pages was read', [2, 2], false, 2, [1, undefined, 2]],
  ])('a page reads no further if %s', async (_when, sizes, differ, wanted, expected) => {
    const { read, cursors } = pagesOf(sizes, { differ })
    const { rows, ...page } = await foldedPage(read, { wanted })
    expect([rows.length, page.next, cursors.length]).toEqual(expected)
    expect('next' in page).toBe(page.next !== undefined)
  })

  test('a page begins where its cursor says', async () => {
    const { read, cursors } = pagesOf([2, 1])
    await foldedPage(read, { cursor: '1', wanted: 2 })
    expect(cursors).toEqual(['1'])
  })
})

describe('an answer that changed nothing', () => {
  const [settled, up, running] = [
    updateOf({ id: 'upd_s', state: 'settled' }),
    refused({ id: 'upd_u', problem: refusal('already-updated') }),
    refused({ id: 'upd_d', problem: refusal('duplicate-work') }),
  ]
  test.each<[string, boolean, Update[], string | undefined]>([
    ['a replay', true, [settled], 'upd_s'],
    ['duplicates alone', false, [up, running], 'upd_d'],
    ['a duplicate beside an update that ran', false, [settled, up], undefined],
    ['another refusal', false, [refused()], undefined],
    ['a settled update that has a problem', false, [{ ...up, state: 'settled' }], undefined],
    ['no update', false, [], undefined],
  ])('an answer of %s is a repeat or not', (_what, replayed, updates, id) => {
    expect(repeatedIn({ replayed, updates })?.id).toBe(id)
  })
})
