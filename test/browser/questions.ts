import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'
import { count } from '../../shared/guard/sentences.ts'
import { asNumber } from '../../shared/ledger/book/book.ts'
import { limitOf, personOf, rootBudget } from '../../shared/ledger/book/definitions.ts'
import { movedOnTops } from '../../shared/ledger/book/entry.ts'
import type { Update } from '../../shared/ledger/updates/update.ts'
import { dayMs } from '../../shared/platform/clock.ts'
import { reportsOf } from '../../shared/reports/reports.ts'
import type { Dashboard } from '../support/browser/dashboard.ts'

/** Questions of a budget owner. The answers come from the page and must match the records. */

type Guard = Dashboard['scenario']['guard']
type Question = (page: Page, click: (target: Locator) => Promise<void>, guard: Guard) => Promise<void>

const maxClicks = 3

/** Begins at the overview. Each link, button and folded part counts as a click; typing does not. */
export async function answer(page: Page, guard: Guard, question: Question): Promise<void> {
  let clicks = 0
  await page.goto('/')
  await question(
    page,
    async (target) => {
      clicks++
      await target.click()
    },
    guard,
  )
  expect(clicks).toBeLessThanOrEqual(maxClicks)
}

/** The figures of the open month, from its updates and entries alone. */
async function recordsOf(guard: Guard) {
  const view = await guard.ledger.view()
  const [updates, entries] = await Promise.all([
    guard.ledger.updates({ since: view.month.start }, 500),
    guard.ledger.entries({ month: view.month.name }, 500),
  ])
  expect([updates.next, entries.next]).toEqual([undefined, undefined])
  return { view, updates: updates.rows, entries: entries.rows }
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0)
const charged = (updates: readonly Update[]): number => sum(updates.map((update) => update.charged ?? 0))
const main = (page: Page): Locator => page.getByRole('main')
const open = (page: Page, name: string): Locator =>
  page.getByRole('navigation', { name: 'Dashboard' }).getByRole('link', { name })
/** A tile's figure and the note below it. */
const tile = (page: Page, name: string): Locator =>
  main(page).locator('.tiles > div').filter({ hasText: name }).locator('dd')
/** The text of an element with plain spaces and no line breaks. */
const textOf = async (locator: Locator): Promise<string> => (await locator.innerText()).replace(/\s+/g, ' ')

const howMuchIsLeft: Question = async (page, _click, guard) => {
  const { view, updates, entries } = await recordsOf(guard)
  const inDoubt = updates.filter(({ state }) => state === 'in-doubt').map(({ hold }) => hold?.units ?? 0)
  const outside = entries.map((entry) => movedOnTops([rootBudget], entry, 'spent'))
  const account = view.definitions.budgets[rootBudget]
  const limit = account ? asNumber(limitOf(account, 'month')) : 0
  const left = limit - charged(updates) - sum([...inDoubt, ...outside])
  expect(await textOf(tile(page, `Left of ${count(limit)}`))).toMatch(new RegExp(`^${count(left)} `))
}

const willItLast: Question = async (page, _click, guard) => {
  const { budgets } = await (await reportsOf(guard)).outlook()
  const account = budgets.find(({ budget }) => budget === rootBudget)
  if (!account || account.figures.limit === 'unlimited') throw new Error('the account has no limit')
  const { projected, projectedAtPace } = account.month
  const total = account.figures.limit + account.figures.granted
  const ends = [projectedAtPace ?? projected, projected].map((each) => count(total - each))
  expect(account.reasons).toEqual([])
  expect(await page.getByRole('heading', { level: 1 }).innerText()).toMatch(/^November: on track/)
  expect(await textOf(tile(page, 'Left at the reset'))).toContain(ends.join('–'))
}

/** A budget that cannot pay now comes before budgets that run out later. */
const whichBudgetFirst: Question = async (page, _click, guard) => {
  const { view, updates } = await recordsOf(guard)
  const cannotPay = Object.keys(view.definitions.budgets).filter((budget) => {
    const last = updates.find((update) => update.budget === budget && update.charged)
    return last !== undefined && (view.book.counters.month[budget]?.available ?? 0) < (last.charged ?? 0)
  })
  expect(cannotPay).toHaveLength(1)
  const [first] = await page.getByRole('region', { name: 'At risk' }).getByRole('listitem').all()
  const available = view.book.counters.month[cannotPay[0] ?? '']?.available ?? 0
  expect(first && (await textOf(first))).toMatch(new RegExp(`^${cannotPay[0]} .* has ${count(available)} units left`))
}

const whoSpentMost: Question = async (page, _click, guard) => {
  const { view, updates } = await recordsOf(guard)
  const byName = new Map<string, number>()
  for (const { plan, caller, charged = 0 } of updates) {
    const name = plan === undefined ? personOf(view.definitions, caller) : `plan ${plan}`
    byName.set(name, (byName.get(name) ?? 0) + charged)
  }
  const most = [...byName].sort(([, a], [, b]) => b - a).slice(0, 3)
  const shown = await page.getByRole('region', { name: 'Who spent' }).getByRole('listitem').all()
  const texts = await Promise.all(shown.slice(0, most.length).map(textOf))
  expect(texts.map((text) => text.replace(/ \d+ %$/, ''))).toEqual(
    most.map(([name, units]) => `${name} ${count(units)}`),
  )
}

const whyWasItRefused: Question = async (page, click, guard) => {
  const { view, updates } = await recordsOf(guard)
  const refused = updates.find(({ problem }) => problem?.slug === 'over-budget')
  if (!refused?.problem) throw new Error('no update is over its budget')
  await click(open(page, 'Updates'))
  await click(page.getByRole('navigation', { name: 'States' }).getByRole('link', { name: 'refused' }))
  await click(page.locator(`a[href$="${refused.id}"]`))
  const text = await textOf(main(page))
  expect(text).toContain(refused.problem.detail)
  const counters = refused.problem.members.budgets as unknown as readonly ShortCounter[]
  const ranFor = updates.find(({ project, charged }) => project === refused.project && charged)?.charged ?? 0
  const remedies = await main(page)
    .getByRole('link', { name: /^Grant/ })
    .allInnerTexts()
  const needed = (short: number | null, available: number) => (short === null ? ranFor : short + available)
  expect(remedies).toEqual(
    counters.map(({ budget, short, available }) => {
      const missing = needed(short, available) - (view.book.counters.month[budget]?.available ?? 0)
      return `Grant ${count(missing)} to ${budget}…`
    }),
  )
}

interface ShortCounter {
  readonly budget: string
  readonly available: number
  /** `null`: the update was refused before its price was known. */
  readonly short: number | null
}

const whatDidYesterdayCost: Question = async (page, click, guard) => {
  const { view, updates } = await recordsOf(guard)
  const start = view.day.start - dayMs
  const ofYesterday = updates.filter(({ createdAt }) => createdAt >= start && createdAt < view.day.start)
  expect(await textOf(tile(page, 'Yesterday'))).toMatch(new RegExp(`^${count(charged(ofYesterday))} / `))
  await click(page.getByRole('link', { name: /^Yesterday/ }))
  const cells = await page.locator('td[data-name="Charged"]').allInnerTexts()
  expect(sum(cells.map((text) => Number(text.replace(/\D/g, ''))))).toBe(charged(ofYesterday))
}

export const isAPlanPaused: Question = async (page, click, guard) => {
  const { pausedPlans = {} } = (await guard.ledger.view()).definitions
  await click(open(page, 'Plans'))
  const rows = await page.getByRole('row').filter({ hasText: 'paused by' }).getByRole('rowheader').allInnerTexts()
  expect(rows.map((text) => text.split(/\s/)[0])).toEqual(Object.keys(pausedPlans))
  for (const [plan, { by, reason }] of Object.entries(pausedPlans))
    expect(await textOf(main(page))).toMatch(new RegExp(`${plan} is paused by ${by} since .*: ${reason}`))
}

const whatChangedSinceFriday: Question = async (page, click, guard) => {
  const { view, entries } = await recordsOf(guard)
  const friday = view.day.start - ((new Date(view.day.start).getUTCDay() + 2) % 7) * dayMs
  const since = entries.filter(({ at }) => at >= friday)
  expect(since.length).toBeGreaterThan(0)
  await click(open(page, 'Activity'))
  await page.getByLabel('Since').fill(new Date(friday).toISOString().slice(0, 10))
  await click(page.getByRole('button', { name: 'Show' }))
  const rows = await page.locator('tbody tr').all()
  const texts = await Promise.all(rows.map(textOf))
  expect(texts).toHaveLength(since.length)
  for (const [position, { budget, by, reason }] of since.entries())
    expect(texts[position]).toMatch(new RegExp(`${budget} .*${by} .*${reason}`))
}

const exportNovember: Question = async (page, click, guard) => {
  const { updates } = await recordsOf(guard)
  await click(open(page, 'Statements'))
  const download = page.waitForEvent('download')
  await click(main(page).getByRole('link', { name: 'Download as CSV' }))
  const file = await download
  const response = await page.request.get(file.url())
  const [head = '', ...lines] = (await response.text()).trim().split(/\r?\n/)
  const column = head.split(',').indexOf('charged')
  expect(sum(lines.map((line) => Number(line.split(',')[column])))).toBe(charged(updates))
}

/** Approves, of five updates that the user may approve, as many as the cost of the first three pays for. */
export const approveThreeOfFive: Question = async (page, click, guard) => {
  const waiting = (await guard.ledger.open('awaiting-approval', 20)).rows
  await click(open(page, 'Inbox'))
  const boxes = await page.getByRole('checkbox').all()
  const ids = await Promise.all(boxes.map((box) => box.getAttribute('value')))
  const inOrder = ids.flatMap((id) => waiting.find((update) => update.id === id) ?? [])
  expect(inOrder).toHaveLength(5)
  const inAll = sum(inOrder.slice(0, 3).map(({ estimated = 0 }) => estimated))
  await click(page.getByRole('link', { name: 'Choose all approvals' }))
  await page.getByLabel('Approve up to … units in all').fill(String(inAll))
  await click(page.getByRole('button', { name: 'Approve chosen' }))
  expect(await textOf(page.getByRole('status'))).toContain(`2 of 5 did not fit into ${count(inAll)} units`)
  const after = await Promise.all(inOrder.map(async ({ id }) => (await guard.ledger.update(id))?.state))
  expect(after).toEqual([...Array(3).fill('requested'), ...Array(2).fill('awaiting-approval')])
}

export const questions: readonly (readonly [string, Question])[] = [
  ['how much is left', howMuchIsLeft],
  ['will it last', willItLast],
  ['which budget first', whichBudgetFirst],
  ['who spent most', whoSpentMost],
  ['why was this refused, and what would let it pass', whyWasItRefused],
  ['what did yesterday cost', whatDidYesterdayCost],
  ['is a plan paused', isAPlanPaused],
  ['what changed since Friday, and who did it', whatChangedSinceFriday],
  ['export November for finance', exportNovember],
]
