import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'
import { count } from '../../shared/guard/sentences.ts'
import { movedOnTops } from '../../shared/ledger/book/entry.ts'
import { asNumber } from '../../shared/ledger/definitions/counters.ts'
import { limitOf, personOf, rootBudget } from '../../shared/ledger/definitions/definitions.ts'
import type { Update } from '../../shared/ledger/updates/update.ts'
import { dayMs, toRfc3339 } from '../../shared/platform/clock.ts'
import { reportsOf } from '../../shared/reports/reports.ts'
import type { Dashboard } from '../support/browser/dashboard.ts'

/** Questions of a budget owner. The answers come from the page and must match the records. */

type Guard = Dashboard['scenario']['guard']
type Question = (page: Page, click: (target: Locator) => Promise<void>, guard: Guard) => Promise<void>

/** Begins at the overview. Each link, button and folded part counts as a click; typing does not. */
export async function answer(page: Page, guard: Guard, question: Question, maxClicks = 2): Promise<void> {
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
  expect(texts.map((text) => text.replace(/ [\d.]+ %$/, ''))).toEqual(
    most.map(([name, units]) => `${name} ${count(units)}`),
  )
}

const whyWasItRefused: Question = async (page, click, guard) => {
  const { view, updates } = await recordsOf(guard)
  const refused = updates.find(({ problem }) => problem?.slug === 'over-budget')
  if (!refused?.problem) throw new Error('no update is over its budget')
  await click(open(page, 'Updates'))
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

const whichAreInDoubt: Question = async (page, click, guard) => {
  const { updates } = await recordsOf(guard)
  const inDoubt = updates.filter(({ state }) => state === 'in-doubt')
  await click(open(page, 'Inbox'))
  const rows = await page.getByRole('listitem').filter({ hasText: 'in doubt; settles' }).all()
  const addresses = await Promise.all(rows.map((row) => row.locator('.what a').nth(1).getAttribute('href')))
  expect(inDoubt.length).toBeGreaterThan(0)
  expect(addresses.toSorted()).toEqual(inDoubt.map(({ id }) => `/dashboard/updates/${id}`).toSorted())
}

const whatWaitsForMe: Question = async (page, click, guard) => {
  const { updates } = await recordsOf(guard)
  const waiting = updates.filter(({ state }) => ['awaiting-approval', 'in-doubt'].includes(state))
  const units = sum(waiting.map(({ hold, estimated = 0 }) => hold?.units ?? estimated))
  expect(await textOf(tile(page, 'To decide'))).toMatch(new RegExp(`^${waiting.length} ${count(units)} units`))
  await click(tile(page, 'To decide').locator('..').getByRole('link'))
  const boxes = await page.getByRole('checkbox').all()
  const ids = await Promise.all(boxes.map((box) => box.getAttribute('value')))
  expect(ids.toSorted()).toEqual(waiting.map(({ id }) => id).toSorted())
}

const whatDidAClientCost: Question = async (page, click, guard) => {
  const { view, updates, entries } = await recordsOf(guard)
  const client = 'lakeside-hotels'
  const own = updates.filter(({ budget, hold }) => budget === client || hold?.owners?.includes(client))
  const spent = charged(own) + sum(entries.map((entry) => movedOnTops([client], entry, 'spent')))
  expect(view.book.counters.month[client]?.spent).toBe(spent)
  await click(open(page, 'Statements'))
  await click(page.getByRole('link', { name: 'By budget' }))
  const cells = page.getByRole('row').filter({ has: page.getByRole('rowheader', { name: client, exact: true }) })
  const [units, outside] = await Promise.all(
    ['Charged', 'External'].map((name) => textOf(cells.locator(`[data-name="${name}"]`))),
  )
  expect([units, outside]).toEqual([count(charged(own)), count(spent - charged(own))])
}

const whenDoesAPlanRun: Question = async (page, click, guard) => {
  const { plans } = await guard.planStatuses()
  const { verdicts } = await (await reportsOf(guard)).upcoming(5)
  const morning = plans.find(({ plan }) => plan.name === 'morning')
  await click(open(page, 'Plans'))
  const row = page.getByRole('row').filter({ has: page.getByRole('rowheader', { name: /^morning/ }) })
  expect(await row.locator('[data-name="Next run"] time').getAttribute('datetime')).toBe(toRfc3339(morning?.next ?? 0))
  expect(verdicts.get('morning')?.kind).not.toBe('passes')
  expect(await textOf(row.locator('[data-name="Will it pass?"]'))).toMatch(/until .*, then 2 of 3 run; globex does not/)
}

const whoMayApprove: Question = async (page, click, guard) => {
  const { view, updates } = await recordsOf(guard)
  const approved = updates.flatMap(({ approval }) => approval?.by ?? [])
  const withToken = updates.filter(({ token }) => token?.scopes.includes('approve')).map(({ caller }) => caller)
  const people = new Set([...approved, ...withToken].map((sub) => personOf(view.definitions, sub)))
  expect(people.size).toBeGreaterThan(0)
  await click(page.locator('.who summary'))
  await click(page.getByRole('link', { name: 'Callers' }))
  const links = await page.getByText('May approve').getByRole('link').allInnerTexts()
  expect(links).toEqual([...people].toSorted())
}

const whatChangedALimit: Question = async (page, click, guard) => {
  const { entries } = await recordsOf(guard)
  const change = entries.find(({ type, budget }) => type === 'limit' && budget === 'initech')
  if (!change) throw new Error('no limit of initech was changed')
  await click(page.getByRole('region', { name: 'Budgets' }).getByRole('link', { name: 'initech', exact: true }))
  const row = page.getByRole('region', { name: 'Booked this month' }).getByRole('row').filter({ hasText: 'limit' })
  expect(await textOf(row)).toMatch(/mira .*month 3,600 → 4,200/)
  expect(await row.locator('time').getAttribute('datetime')).toBe(toRfc3339(change.at))
}

/** The ten questions of an owner, and more. */
export const questions: readonly (readonly [string, Question])[] = [
  ['how much is left', howMuchIsLeft],
  ['will it last', willItLast],
  ['who spent most', whoSpentMost],
  ['which updates are in doubt', whichAreInDoubt],
  ['what waits for me', whatWaitsForMe],
  ['what did a client cost', whatDidAClientCost],
  ['when does a plan run next, and will it pass', whenDoesAPlanRun],
  ['why was this refused, and what would let it pass', whyWasItRefused],
  ['who may approve', whoMayApprove],
  ['what changed the limit of a budget, and when', whatChangedALimit],
  ['which budget first', whichBudgetFirst],
  ['what did yesterday cost', whatDidYesterdayCost],
  ['is a plan paused', isAPlanPaused],
  ['what changed since Friday, and who did it', whatChangedSinceFriday],
  ['export November for finance', exportNovember],
]
