import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { chromiumPath } from '../support/browser/chromium.ts'
import { type Dashboard, openDashboard } from '../support/browser/dashboard.ts'
import { everyLook } from './looks.ts'

// The tables of budgets with a price of a unit, measured in a real browser.

const timeout = 110_000
const prices = { PRICE_PER_UNIT: '0.012', CURRENCY: 'EUR' }

/** The cells that show money, with how far each base line of its money is from the base line of its units. */
const baseLines = `[...document.querySelectorAll("td:has(.money)")].map((cell) => {
  const [units, money] = [".units", ".money"].map((part) => {
    const mark = document.createElement("span")
    mark.style.display = "inline-block"
    cell.querySelector(part).append(mark)
    return mark.getBoundingClientRect().bottom
  })
  return Math.abs(units - money)
})`

/** The right edges of the units, so that their digits stand below each other. */
const edges = `[...document.querySelectorAll('td[data-name="Spent"] .units')].map((units) => Math.round(units.getBoundingClientRect().right))`

/** The space above and below each pill in its row. */
const margins = `[...document.querySelectorAll("td .pill")].flatMap((pill) => {
  const [inner, row] = [pill, pill.closest("tr")].map((each) => each.getBoundingClientRect())
  return [inner.top - row.top, row.bottom - inner.bottom]
})`

describe.skipIf(chromiumPath === null)('in Chromium', { timeout }, () => {
  let dashboard: Dashboard
  beforeAll(async () => {
    dashboard = await openDashboard('2026-11-24T14:00:00Z', prices)
  }, timeout)
  afterAll(() => dashboard?.close())

  async function expectOneBaseLine(month: Dashboard, path: string) {
    const { page } = await month.insider(undefined, { viewport: { width: 1440, height: 900 } })
    await page.goto(path)
    expect(new Set(await page.evaluate<number[]>(edges)).size).toBe(1)
    expect(await everyLook(page)).toEqual([])
    await page.setViewportSize({ width: 1440, height: 900 })
    const distances = await page.evaluate<number[]>(baseLines)
    expect(distances.length).toBeGreaterThan(5)
    expect(Math.max(...distances)).toBeLessThan(1)
  }

  test.each(['/', '/dashboard/budgets'])(
    'units and their money stand on one base line, and the units below each other: %s',
    (path) => expectOneBaseLine(dashboard, path),
  )

  test('units and their money stand on one base line on the page of an ended month', async () => {
    const later = await openDashboard('2026-12-02T10:00:00Z', prices)
    try {
      await expectOneBaseLine(later, '/?window=month:2026-11-01')
    } finally {
      await later.close()
    }
  })

  test.each([1440, 720])('a status is lower than its row, on a screen of %i pixels', async (width) => {
    const { page } = await dashboard.insider(undefined, { viewport: { width, height: 900 } })
    await page.goto('/')
    const spaces = await page.evaluate<number[]>(margins)
    expect(spaces.length).toBeGreaterThan(10)
    expect(Math.min(...spaces)).toBeGreaterThanOrEqual(1.5)
  })
})
