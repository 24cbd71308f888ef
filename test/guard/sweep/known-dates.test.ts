import { describe, expect, test } from 'vitest'
import { knownDates } from '../../../shared/guard/sweep/known-dates.ts'
import { days } from '../../support/clock.ts'
import { at, openInMemory } from '../../support/store/open-small.ts'

describe('the known dates of a project', () => {
  const seen = { project: 'acme', dates: ['2026-11-19', '2026-11-20'], at }

  test('known dates are read in the order of the projects', async () => {
    const { ledger, stored } = openInMemory()
    await ledger.item(knownDates).write(seen, null)
    expect(await ledger.item(knownDates).read(['globex', 'acme'])).toEqual([null, seen])
    expect(stored('sighting')).toMatchObject([
      { pk: expect.stringMatching(/^sighting#./), expiresAt: (at + days(400)) / 1000 },
    ])
    const names = Array.from({ length: 101 }, (_, index) => (index === 100 ? 'acme' : `p${index}`))
    const found = await ledger.item(knownDates).read(names)
    expect([found.length, found[100]]).toEqual([101, seen])
  })

  test('known dates are replaced only if they did not change after they were read', async () => {
    const { ledger } = openInMemory()
    const later = { ...seen, dates: ['2026-11-21'], at: at + days(1) }
    await ledger.item(knownDates).write(seen, null)
    await ledger.item(knownDates).write(later, null)
    await ledger.item(knownDates).write(later, { ...seen, at: at - 1 })
    expect(await ledger.item(knownDates).read(['acme'])).toEqual([seen])
    await ledger.item(knownDates).write(later, seen)
    expect(await ledger.item(knownDates).read(['acme'])).toEqual([later])
  })

  test('the latest 400 known dates are kept', async () => {
    const { ledger } = openInMemory()
    const dates = Array.from({ length: 401 }, (_, index) => `day ${1000 + index}`)
    await ledger.item(knownDates).write({ ...seen, dates }, null)
    const [kept] = await ledger.item(knownDates).read(['acme'])
    expect([kept?.dates.length, kept?.dates[0]]).toEqual([400, 'day 1001'])
  })
})
