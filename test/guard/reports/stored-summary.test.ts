import { describe, expect, test } from 'vitest'
import { newCalendar } from '../../../shared/ledger/definitions/windows.ts'
import { spoilSummary, summaryDays } from '../../../shared/ledger/updates/summary-days.ts'
import { begin } from '../../../shared/ledger/updates/update.ts'
import {
  daySummaries,
  emptySummary,
  isComplete,
  type Summary,
  summaryPlace,
} from '../../../shared/reports/stored-summary.ts'
import { days } from '../../support/clock.ts'
import { at, openInMemory } from '../../support/store/open-small.ts'

describe('the summary of a day', () => {
  const day = {
    month: 'month:2026-11-01',
    name: 'day:2026-11-20',
    start: Date.parse('2026-11-20T00:00:00Z'),
    end: Date.parse('2026-11-21T00:00:00Z'),
  }
  const row = { budget: 'seo', project: 'acme', caller: 'ada', kind: 'ranking', via: 'http', settled: 2, charged: 80 }
  const summary: Summary = {
    ...emptySummary(day),
    until: at,
    at: at + 1,
    rows: [row],
    open: ['upd_9'],
    used: { seo: { used: 80, limit: 100 } },
    duplicates: 1,
    saved: 40,
    lastAt: at,
  }

  async function kept(first = summary) {
    const product = openInMemory()
    const summaries = product.ledger.item(daySummaries)
    const read = async () => {
      const [found] = await summaries.read([day])
      if (!found) throw new Error('each day has an answer')
      return found
    }
    expect(await summaries.write(first)).toBe('written')
    return { ...product, summaries, read, seen: await read() }
  }

  test('a summary is kept as long as the records, and replaced only if it did not change after it was read', async () => {
    expect(await openInMemory().ledger.item(daySummaries).read([day])).toEqual([emptySummary(day)])
    const { summaries, read, seen, stored } = await kept()
    expect(seen).toEqual({ ...summary, mark: expect.stringMatching(/./) })
    expect(stored(day.name)).toMatchObject([
      { pk: 'summary#month:2026-11-01', expiresAt: (day.start + days(780)) / 1000 },
    ])
    const more = { ...summary, rows: [row, { ...row, budget: 'ads' }], open: [] }
    expect(await summaries.write(more)).toBe('moved')
    expect(await summaries.write({ ...more, mark: 'another' })).toBe('moved')
    expect(await read()).toEqual(seen)
    expect(await summaries.write({ ...more, mark: seen.mark })).toBe('written')
    expect(await read()).toEqual({ ...more, mark: expect.stringMatching(/./) })
  })

  test('a summary has a new mark after every write, even of equal figures', async () => {
    const { summaries, read, seen } = await kept()
    await summaries.write({ ...seen, at: at + 2 })
    const second = await read()
    await summaries.write({ ...second, at: at + 1 })
    expect(new Set([seen.mark, second.mark, (await read()).mark]).size).toBe(3)
  })

  test('a wrong summary is invalidated, but no newer summary, and the figures of the book stay', async () => {
    const { summaries, read, seen, stored } = await kept()
    await summaries.write({ ...seen, at: at + 2 })
    await summaries.spoil(seen)
    const changed = await read()
    expect(changed.rows).toEqual([row])
    await summaries.spoil(changed)
    expect(await read()).toEqual({
      ...changed,
      mark: expect.any(String),
      until: day.start - 1,
      rows: [],
      open: [],
      spenders: [],
      unlisted: [],
    })
    expect((await read()).mark).not.toBe(changed.mark)
    expect(stored(day.name)).toMatchObject([{ expiresAt: (day.start + days(780)) / 1000 }])
    await summaries.spoil(emptySummary({ ...day, name: 'day:2026-11-19' }))
    expect(stored('day:2026-11-19')).toEqual([])
  })

  test.each([true, false])(
    'the correction of an update invalidates the summary of its day, stored (%s) or not',
    async (isKept) => {
      const { ledger, store } = isKept ? await kept() : openInMemory()
      const request = { kind: 'ranking', project: 'acme', budget: 'seo', caller: 'ada', via: 'http' } as const
      const corrected = begin(
        { ...request, id: 'upd_1', content: { digest: 'd', count: 1 }, createdAt: at },
        'refused',
        { month: day.month },
        { at, by: 'ada' },
      )
      const { calendar } = (await ledger.view()).definitions
      expect(await store.transact([spoilSummary(calendar, corrected)], 'spoil')).toEqual({ applied: true })
      const expected = { mark: 'upd_1#1', until: day.start - 1, rows: [], open: [] }
      expect(await ledger.item(daySummaries).read([day])).toMatchObject([expected])
      expect(await ledger.item(daySummaries).unfinished()).toEqual([day.start])
    },
  )

  test('a summary is unfinished until it is complete and names no update', async () => {
    const { summaries, read } = await kept()
    expect(await summaries.unfinished()).toEqual([day.start])
    await summaries.write({ ...(await read()), until: day.end - 1 })
    expect(await summaries.unfinished()).toEqual([day.start])
    await summaries.write({ ...(await read()), open: [] })
    expect(await summaries.unfinished()).toEqual([])
    await summaries.write({ ...(await read()), until: day.end - 2 })
    expect(await summaries.unfinished()).toEqual([day.start])
  })

  test('a summary with many rows has further items, and counts nothing without them', async () => {
    const rows = Array.from({ length: 300 }, (_, each) => ({ ...row, project: `${each}`.padEnd(400, 'x') }))
    const { summaries, read, seen, stored, damage } = await kept({ ...summary, rows })
    expect(seen.rows).toEqual(rows)
    expect([stored(day.name).length, stored(`${day.name}#1`).length, stored(`${day.name}#2`).length]).toEqual([1, 1, 1])
    const other = { ...day, name: 'day:2026-11-19' }
    await summaries.write({ ...emptySummary(other), rows: [row] })
    const two = await summaries.read([other, day])
    expect(two.map(({ rows }) => rows.length)).toEqual([1, 300])
    const [head] = await summaries.read([day], { withRows: false })
    expect([head?.rows.length, head?.used]).toEqual([20, summary.used])
    damage(`${day.name}#2`, { mark: 'of an earlier write' })
    expect(await read()).toEqual({ ...emptySummary(day), mark: seen.mark })
    damage(day.name, { shards: 3 })
    expect(await read()).toEqual({ ...emptySummary(day), mark: seen.mark })
  })

  test('a day without a summary has no figures, and is complete after its last millisecond', () => {
    const empty = emptySummary(day)
    expect(empty).toMatchObject({ until: day.start - 1, open: [], duplicates: 0, saved: 0, lastAt: 0 })
    const isCompleteAt = (until: number) => isComplete({ ...empty, until })
    expect([day.start - 1, day.end - 2, day.end - 1, day.end].map(isCompleteAt)).toEqual([false, false, true, true])
  })

  test('the summary days of a span include both its ends, and a renewal splits its day', () => {
    const calendar = newCalendar({ day: 12, time: '09:00', zone: 'UTC' })
    const daysBetween = (since: string, until: string) =>
      summaryDays(calendar, { since: Date.parse(since), until: Date.parse(until) }).map(
        ({ month, name, start, end }) => `${month} ${name} ${(end - start) / 3_600_000} h`,
      )
    expect(daysBetween('2026-11-11T23:00:00Z', '2026-11-13T00:00:00Z')).toEqual([
      'month:2026-10-12 day:2026-11-11 24 h',
      'month:2026-10-12 day:2026-11-12 9 h',
      'month:2026-11-12 day:2026-11-12 15 h',
      'month:2026-11-12 day:2026-11-13 24 h',
    ])
    expect(daysBetween('2026-11-20T10:00:00Z', '2026-11-20T10:00:00Z')).toEqual([
      'month:2026-11-12 day:2026-11-20 24 h',
    ])
    expect(daysBetween('2026-11-20T10:00:00Z', '2026-11-19T10:00:00Z')).toEqual([])
  })

  test('a summary that is too large is not written', async () => {
    const { summaries, read, seen } = await kept()
    const rows = (count: number) =>
      Array.from({ length: count }, (_, each) => ({ ...row, project: `${each}`.padEnd(90_000, 'x') }))
    expect(await summaries.write({ ...seen, rows: rows(34) })).toBe('written')
    const large = await read()
    expect(await summaries.write({ ...large, rows: rows(35) })).toBe('too-large')
    expect(await read()).toEqual(large)
  })

  test('a summary has defaults for missing members, and is damaged without a mark', async () => {
    const { summaries, read, damage, store } = await kept()
    const other = { ...day, name: 'day:2026-11-19' }
    const item = { pk: `summary#${day.month}`, sk: other.name, mark: 'm', start: other.start, until: at }
    await store.transact([{ kind: 'put', item, when: [] }], 'put')
    expect(await summaries.read([other])).toEqual([{ ...emptySummary(other), mark: 'm', until: at }])
    damage(day.name, { mark: null })
    await expect(read()).rejects.toThrow('summary#month:2026-11-01 (day:2026-11-20) is damaged: mark must be text')
  })

  test('the position up to which all summaries are written is kept', async () => {
    const reached = openInMemory().ledger.item(summaryPlace)
    expect(await reached.read()).toBeNull()
    for (const [index, place] of [day.start, day.end, day.start].entries()) {
      await reached.move(place, at + index)
      expect(await reached.read()).toBe(place)
    }
  })
})
