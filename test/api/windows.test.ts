import { expect, test } from 'vitest'
import { noWindow } from '../../shared/api/windows.ts'
import { openBrowser } from '../support/browser/browser.ts'
import { days } from '../support/clock.ts'
import { startProduct } from '../support/product.ts'
import { createMemoryStore } from '../support/store/memory-store.ts'

const never = 'there is no window month:2026-11-02: no month begins on that date; '

test('a month that never was is refused with the months that there are', async () => {
  const product = await startProduct({ store: createMemoryStore() })
  const told = async (path: string) => (await product.call('GET', path)).body.errors?.[0]?.message
  const month = (await product.guard.ledger.view()).month.name
  for (const path of ['/statements', '/budgets/account/entries', '/budgets', '/budgets/account'])
    expect([path, await told(`${path}?window=month:2026-11-02`)]).toEqual([path, `${never}there is ${month}`])
  const browser = openBrowser(product)
  await browser.logIn(product.signed({ sub: 'ben', scope: 'read', budgets: '*' }))
  for (const path of ['statements', 'activity', 'updates'])
    expect((await browser.get(`/dashboard/${path}?window=month:2026-11-02`)).text).toContain(never)
})

test('a later month does not exist yet, and of many months the newest are named', async () => {
  const product = await startProduct({ store: createMemoryStore() })
  const { ledger } = product.guard
  const said = async (window: string) => {
    const { errors } = noWindow(await ledger.view(), window).problem.members
    return JSON.stringify(errors)
  }
  const { month } = await ledger.view()
  const next = `month:${new Date(month.end).toISOString().slice(0, 10)}`
  expect(await said(next)).toContain(`there is no window ${next} yet; there is ${month.name}`)
  const named: string[] = []
  for (let passed = 0; passed < 4; passed++) {
    named.unshift((await ledger.view()).month.name)
    product.clock.advance(days(31))
  }
  expect(await said('month:2026-11-02')).toMatch(
    new RegExp(`there are month:\\S+, ${named[0]}, ${named[1]} and earlier ones`),
  )
})
