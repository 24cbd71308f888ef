import type { CDPSession, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { chromiumPath } from '../support/browser/chromium.ts'
import { type Dashboard, openDashboard, type Visitor } from '../support/browser/dashboard.ts'
import { openByKeys, tabTo } from './keyboard.ts'
import { axeFindings } from './looks.ts'
import { pages } from './pages.ts'

// Every page without a mouse and without eyes: what Tab reaches, and what Chromium tells a screen reader.

const timeout = 110_000

/** A screen and a phone with a keyboard, or a screen at a zoom of 300 %. */
const widths = [1280, 390]
const everywhere = widths.flatMap((width) => pages.map(([name, path]) => [width, name, path] as const))

/** All links, buttons and fields that a user can see, in the order of the document. */
const stops = `[...document.querySelectorAll("a[href], button, input, select, textarea, summary")]
  .filter((each) => each.type !== "hidden" && !each.disabled && each.checkVisibility({ visibilityProperty: true }))`

const mark = `${stops}.map((each, at) => { each.setAttribute("data-stop", at); return (each.textContent || each.name || "").trim().slice(0, 40) })`

/** A field with a fault has the focus from the beginning. */
const startAtTop = `document.body.tabIndex = -1; document.body.focus(); document.body.removeAttribute("tabindex")`

interface Focus {
  /** `null`: the focus is on the page itself. */
  readonly stop: string | null
  readonly ring: string
  readonly isSeen: boolean
}

const focus = `(() => {
  const element = document.activeElement
  const { top, bottom, left, right } = element.getBoundingClientRect()
  const { outlineStyle, outlineWidth } = getComputedStyle(element)
  const isSeen = bottom > 0 && right > 0 && top < innerHeight && left < innerWidth
  return { stop: element.getAttribute("data-stop"), ring: outlineStyle + " " + outlineWidth, isSeen }
})()`

/** Presses Tab until the focus leaves the page. A field of a date takes several steps. */
async function tabThrough(page: Page): Promise<{ reached: readonly number[]; faint: readonly number[] }> {
  const [reached, faint]: [number[], number[]] = [[], []]
  for (;;) {
    await page.keyboard.press('Tab')
    const { stop, ring, isSeen } = await page.evaluate<Focus>(focus)
    if (stop === null) return { reached, faint }
    if (reached.at(-1) === Number(stop)) continue
    reached.push(Number(stop))
    if (ring !== 'solid 3px' || !isSeen) faint.push(Number(stop))
  }
}

interface AXNode {
  readonly nodeId: string
  readonly ignored: boolean
  readonly role?: { readonly value: string }
  readonly name?: { readonly value: string }
  readonly childIds?: readonly string[]
  readonly properties?: readonly { readonly name: string; readonly value: { readonly value: unknown } }[]
}

const openAll = `for (const each of document.querySelectorAll("details")) { each.removeAttribute("name"); each.open = true }`

const named = ['link', 'button', 'textbox', 'searchbox', 'combobox', 'checkbox', 'DisclosureTriangle', 'image', 'Date']

/** What a screen reader finds wrong: skipped headings, tables without headers, and elements without a name. */
async function misreadings(session: CDPSession): Promise<readonly string[]> {
  const { nodes } = (await session.send('Accessibility.getFullAXTree')) as unknown as { nodes: readonly AXNode[] }
  const byId = new Map(nodes.map((node) => [node.nodeId, node]))
  const roleOf = ({ role }: AXNode) => role?.value ?? ''
  const below = (node: AXNode): readonly AXNode[] =>
    (node.childIds ?? []).flatMap((id) => byId.get(id) ?? []).flatMap((child) => [child, ...below(child)])
  const root = nodes.find((node) => roleOf(node) === 'RootWebArea')
  const inOrder = root ? below(root).filter(({ ignored }) => !ignored) : []
  const levels = inOrder
    .filter((node) => roleOf(node) === 'heading')
    .map(({ properties }) => Number(properties?.find(({ name }) => name === 'level')?.value.value))
  const skipped = levels.flatMap((level, at) => {
    const before = at === 0 ? 0 : (levels[at - 1] ?? 0)
    return level > before + 1 ? [`a heading of level ${level} follows one of level ${before}`] : []
  })
  const unnamed = inOrder
    .filter((node) => named.includes(roleOf(node)) && !node.name?.value.trim())
    .map((node) => `a ${roleOf(node)} has no name`)
  const bare = inOrder
    .filter((node) => roleOf(node) === 'table')
    .filter((node) => !below(node).some((cell) => roleOf(cell) === 'columnheader' && cell.name?.value))
    .map(({ name }) => `the table “${name?.value ?? ''}” has no headers of columns`)
  const isOne = levels.filter((level) => level === 1).length === 1
  return [...(isOne ? [] : ['there is not one heading of level 1']), ...skipped, ...unnamed, ...bare]
}

describe.skipIf(chromiumPath === null)('in Chromium', { timeout }, () => {
  let dashboard: Dashboard
  let insider: Visitor
  beforeAll(async () => {
    dashboard = await openDashboard('2026-11-24T14:00:00Z')
    insider = await dashboard.insider()
  }, timeout)
  afterAll(() => dashboard?.close())

  test.each(everywhere)(
    'at %i pixels, Tab reaches everything in its order, with a ring that is seen: %s',
    async (width, _, path) => {
      const { page } = insider
      await page.setViewportSize({ width, height: 800 })
      await page.goto(path(dashboard))
      await page.evaluate(startAtTop)
      const all = await page.evaluate<string[]>(mark)
      const { reached, faint } = await tabThrough(page)
      const nameOf = (at: number) => `${at}: ${all[at]}`
      expect(reached.map(nameOf)).toEqual(all.map((_each, at) => nameOf(at)))
      expect(faint.map(nameOf)).toEqual([])
    },
  )

  test.each(everywhere)(
    'at %i pixels, a screen reader finds headings, headers and names, with every fold open: %s',
    async (width, _, path) => {
      const { page, context } = insider
      await page.setViewportSize({ width, height: 800 })
      await page.goto(path(dashboard))
      await page.evaluate(openAll)
      const session = await context.newCDPSession(page)
      expect(await misreadings(session)).toEqual([])
      await session.detach()
      expect(await axeFindings(page)).toEqual([])
    },
  )

  test('Enter opens and closes a form, sends it, and Escape keeps what was typed', async () => {
    const { page } = await dashboard.insider(undefined, { javaScriptEnabled: false })
    await page.goto('/dashboard/plans/morning')
    const reason = page.getByLabel('Reason', { exact: true })
    await openByKeys(page, 'Pause the plan')
    expect(await reason.isVisible()).toBe(true)
    await page.keyboard.press('Enter')
    expect(await reason.isVisible()).toBe(false)
    await page.keyboard.press('Enter')
    await tabTo(page, reason)
    await page.keyboard.type('no reports this week')
    await page.keyboard.press('Escape')
    expect(await reason.inputValue()).toBe('no reports this week')
    await page.keyboard.press('Enter')
    await page.getByRole('status').waitFor()
    expect(Object.keys((await dashboard.scenario.guard.ledger.view()).definitions.pausedPlans ?? {})).toEqual([
      'morning',
    ])
  })

  test('only one form is open, so that a page has one primary button', async () => {
    const { page } = await dashboard.insider(undefined, { javaScriptEnabled: false })
    for (const [, path] of pages) {
      await page.goto(path(dashboard))
      expect([path(dashboard), await page.locator('main .primary').filter({ visible: true }).count()]).toEqual([
        path(dashboard),
        expect.toBeOneOf([0, 1]),
      ])
    }
    await page.goto('/dashboard/budgets/globex/book?type=grant#grant')
    await page.getByText('Transfer units', { exact: true }).click()
    expect(await page.locator('main .primary').filter({ visible: true }).allInnerTexts()).toEqual(['Preview transfer'])
  })

  test.each([
    ['/dashboard/plans/morning#stopping', 'Reason'],
    ['/dashboard/budgets#create', 'Name'],
    ['/dashboard/callers#stop', 'Another caller (optional)'],
  ])('a link to a folded form opens it: %s', async (path, label) => {
    const { page } = await dashboard.insider(undefined, { javaScriptEnabled: false })
    await page.goto(path)
    expect(await page.getByLabel(label, { exact: true }).isVisible()).toBe(true)
    expect((await page.locator('details[open] > summary').boundingBox())?.y).toBeGreaterThanOrEqual(0)
  })
})
