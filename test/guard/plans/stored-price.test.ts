import { describe, expect, test } from 'vitest'
import { lastPrices } from '../../../shared/guard/plans/stored-price.ts'
import { toUnits } from '../../../shared/platform/words.ts'
import { days } from '../../support/clock.ts'
import { at, openInMemory } from '../../support/store/open-small.ts'

describe('the price of a project', () => {
  const acme = { kind: 'ranking', project: 'acme' } as const

  test('prices are read in the order of the names, with the previous price', async () => {
    const { ledger, stored } = openInMemory()
    await ledger.item(lastPrices).write({ ...acme, units: toUnits(40), at })
    await ledger.item(lastPrices).write({ kind: 'keyword-difficulty', project: 'acme', units: toUnits(7), at })
    expect(await ledger.item(lastPrices).read([{ kind: 'ranking', project: 'globex' }, acme])).toEqual([
      null,
      { ...acme, units: 40, at },
    ])
    await ledger.item(lastPrices).write({ ...acme, units: toUnits(55), at: at + days(1) })
    expect(await ledger.item(lastPrices).read([acme])).toEqual([{ ...acme, units: 55, at: at + days(1), before: 40 }])
    expect(stored('price').map(({ expiresAt }) => expiresAt)).toEqual([(at + days(61)) / 1000, (at + days(60)) / 1000])
    expect(stored('price')[0]?.pk).toMatch(/^price#ranking#/)
  })

  test('the first of two concurrent prices is kept', async () => {
    const { ledger } = openInMemory()
    await Promise.all([40, 41].map((units) => ledger.item(lastPrices).write({ ...acme, units: toUnits(units), at })))
    expect(await ledger.item(lastPrices).read([acme])).toEqual([{ ...acme, units: 40, at }])
    await Promise.all(
      [50, 51].map((units) => ledger.item(lastPrices).write({ ...acme, units: toUnits(units), at: at + units })),
    )
    expect(await ledger.item(lastPrices).read([acme])).toEqual([{ ...acme, units: 50, at: at + 50, before: 40 }])
  })

  test('the prices of more projects than one batch takes can be read', async () => {
    const { ledger } = openInMemory()
    const projects = Array.from({ length: 101 }, (_, index) => ({ kind: 'ranking' as const, project: `p${index}` }))
    await ledger.item(lastPrices).write({ kind: 'ranking', project: 'p100', units: toUnits(9), at })
    const found = await ledger.item(lastPrices).read(projects)
    expect(found).toHaveLength(101)
    expect(found.map((price) => price?.units).filter(Boolean)).toEqual([9])
    expect(found[100]?.project).toBe('p100')
  })
})
