import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'

const maxSteps = 60

/** Moves with Tab as a user without a mouse does; the focus must be visible at each step. */
export async function tabTo(page: Page, to: Locator): Promise<void> {
  const focused = page.locator(':focus')
  for (let step = 0; step < maxSteps; step++) {
    await page.keyboard.press('Tab')
    expect(await page.evaluate<string>('getComputedStyle(document.activeElement).outline')).toMatch(/solid 3px$/)
    if ((await to.and(focused).count()) === 1) return
  }
  throw new Error(`${maxSteps} times Tab do not lead to ${to}`)
}

/** Opens a folded form as a user without a mouse does. */
export async function openByKeys(page: Page, summary: string): Promise<void> {
  await tabTo(page, page.locator('summary').filter({ hasText: summary }))
  await page.keyboard.press('Enter')
}
