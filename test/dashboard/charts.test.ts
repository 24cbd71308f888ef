import { expect, test } from 'vitest'
import type { Entry } from '../../shared/ledger/book/entry.ts'
import type { Item } from '../../shared/ledger/store/store.ts'
import type { Update } from '../../shared/ledger/updates/update.ts'
import { openBrowser, type Shown } from '../support/browser/browser.ts'
import { createTestClock, minutes } from '../support/clock.ts'
import { json, startProduct } from '../support/product.ts'
import { createMemoryStore } from '../support/store/memory-store.ts'

// Every pixel of a chart, read with the ticks of its axes, must equal the sum of the table's records.

const atStart = 5_000
const night = { name: 'night', kind: 'ranking', projects: ['n1'], schedule: 'cron(0 5 * * ? *)' }
const month = (units: number) => [{ window: 'month', units }]
const november = 'month:2026-11-01'

/** Events of the month, by the time at which they happen. */
type Events = readonly (readonly [time: string, act: (product: Product) => Promise<unknown>])[]
type Product = Awaited<ReturnType<typeof startProduct>>

const put =
  (budget: string, units: number, parent = 'account') =>
  (product: Product) =>
    done(
      product.call('PUT', `/budgets/${budget}`, {
        body: { ...(budget !== 'account' && { parent }), limits: month(units) },
      }),
    )
const ask = (budget: string, project: string) => (product: Product) =>
  done(product.update({ kind: 'ranking', project, budget, force: true, reason: 'a test' }))
const book = (budget: string, body: object) => (product: Product) =>
  done(product.call('POST', `/budgets/${budget}/entries`, { body: { reason: 'a test', ...body } }))

async function done(called: ReturnType<Product['call']>): Promise<void> {
  const { status, text } = await called
  if (status >= 400) throw new Error(text)
}

const refused = (budget: string, project: string) => async (product: Product) => {
  const { status } = await product.update({ kind: 'ranking', project, budget, force: true, reason: 'a test' })
  expect(status).toBe(402)
}

async function correct(product: Product): Promise<void> {
  const { rows } = await product.guard.ledger.entries({ month: november }, 100)
  const outside = rows.find(({ type }) => type === 'external-spend')
  await book('seo', { type: 'correction', units: 60, corrects: outside?.id })(product)
}

async function resolve(product: Product): Promise<void> {
  const { rows } = await product.guard.ledger.open('in-doubt', 10)
  for (const { id } of rows)
    await done(product.call('POST', `/updates/${id}/resolve`, { body: { outcome: 'did-not-run', reason: 'a test' } }))
}

const earlier: Events = [
  ['2026-06-10T12:00', ask('account', 'june')],
  ['2026-07-10T12:00', put('account', 4_000)],
  ['2026-08-10T12:00', ask('account', 'august')],
  ['2026-08-11T12:00', book('account', { type: 'external-spend', units: 3_000 })],
  ['2026-10-10T12:00', put('account', 4_500)],
  ['2026-10-10T13:00', ask('account', 'october')],
]
const ofNovember: Events = [
  ['2026-11-02T12:00', put('clients', 3_000)],
  ['2026-11-02T12:01', put('seo', 700, 'clients')],
  ['2026-11-02T13:00', ask('seo', 'dear')],
  ['2026-11-03T12:00', put('seo', 500, 'clients')],
  ['2026-11-04T12:00', ask('seo', 'one')],
  ['2026-11-05T12:00', refused('seo', 'dear')],
  // This grant comes before the sweep that records the end of the fifth.
  ['2026-11-06T00:00', book('seo', { type: 'grant', units: 300 })],
  ['2026-11-07T12:00', book('seo', { type: 'external-spend', units: 150 })],
  ['2026-11-08T12:00', correct],
  ['2026-11-08T13:00', ask('seo', 'lost')],
  ['2026-11-10T12:00', resolve],
  ['2026-11-11T12:00', put('clients', 2_500)],
  ['2026-11-11T13:00', book('clients', { type: 'transfer', units: 100, to: 'seo' })],
  ['2026-11-12T12:00', ask('clients', 'one')],
  ['2026-11-13T12:00', put('ads', 200)],
  ['2026-11-13T12:01', ask('ads', 'one')],
]

/** From June to 14 November at 15:00, with the plan and the sweeps of each day of November. */
async function start() {
  const items = new Map<string, Item>()
  const product = await startProduct({
    store: createMemoryStore(items),
    stream: false,
    plans: [night],
    clock: createTestClock('2026-06-05T10:00:00Z'),
    units: { n1: 30, dear: 400 },
    env: { ACCOUNT_UNITS_PER_MONTH: String(atStart) },
    service: ({ url }) => (/\/lost\/run/.test(url) ? json({}, 500) : undefined),
  })
  await product.guard.ledger.view()
  const act = async (events: Events) => {
    for (const [time, event] of events) {
      product.clock.set(`${time}:00Z`)
      await event(product)
    }
  }
  const sweep = (time: string) => {
    product.clock.set(time)
    return product.triggers.handle({ task: 'sweep' }, product.endsAt())
  }
  const dayOf = async (date: string) => {
    const early = ofNovember.filter(([time]) => time === `${date}T00:00`)
    await act(early)
    await sweep(`${date}T00:04:00Z`)
    product.clock.set(`${date}T05:00:00Z`)
    await product.triggers.handle({ plan: 'night', time: `${date}T05:00:00Z` }, product.endsAt())
    await act(ofNovember.filter((event) => event[0].startsWith(date) && !early.includes(event)))
    product.clock.advance(minutes(10))
    await product.triggers.handle({ task: 'sweep' }, product.endsAt())
  }
  // A sweep writes at most a month of days, so two sweeps reach the day before.
  for (const month of ['06', '07', '08', '09', '10']) {
    await act(earlier.filter(([time]) => time.startsWith(`2026-${month}`)))
    for (const _ of [1, 2]) await sweep(`2026-${month}-30T00:04:00Z`)
  }
  for (let day = 1; day <= 14; day++) await dayOf(`2026-11-${String(day).padStart(2, '0')}`)
  product.clock.set('2026-11-14T15:00:00Z')
  const browser = openBrowser(product)
  const look = async (path: string): Promise<Shown> => {
    await browser.logIn(product.signed({ sub: 'rita', scope: 'read' }))
    return browser.get(path)
  }
  return { product, look, sweep, records: recordsOf(items) }
}

/** Adds up updates and entries only, and reads no book and no summary. */
function recordsOf(items: ReadonlyMap<string, Item>) {
  const records = <Of>(prefix: string) =>
    [...items.values()].filter(({ pk }) => pk.startsWith(prefix)) as unknown as readonly Of[]
  const moves = (budget: string, until: number) =>
    records<Entry>('entry#')
      .filter(({ at }) => at < until)
      .flatMap(({ moves, month }) =>
        moves
          .filter((each) => each.budget === budget && each.window === 'month')
          .map(({ move }) => ({ ...move, month })),
      )
  const ofUpdate = ({ hold, finishedAt = Number.POSITIVE_INFINITY, charged }: Update, at: number): number =>
    !hold || hold.at >= at ? 0 : finishedAt < at ? (charged ?? 0) : hold.units
  const used = (budget: string, at: number, of = november): number =>
    sum(
      records<Update>('update#').filter(({ month, hold }) => month === of && hold?.budgets.includes(budget)),
      (update) => ofUpdate(update, at),
    ) +
    sum(
      moves(budget, at).filter(({ month }) => month === of),
      ({ spent = 0 }) => spent,
    )
  const limit = (budget: string, at: number): number =>
    (budget === 'account' ? atStart : 0) +
    sum(moves(budget, at), ({ limit = 0 }) => limit) +
    sum(
      moves(budget, at).filter(({ month }) => month === november),
      ({ granted = 0 }) => granted,
    )
  return { used, limit }
}

const sum = <Of>(all: readonly Of[], of: (one: Of) => number): number => all.reduce((total, one) => total + of(one), 0)

/** The drawing of a page, with its pixels mapped to times and units by the two axes. */
function drawnIn(html: string) {
  const plot = /<svg class="plot".*?<\/figure>/s.exec(html)?.[0] ?? ''
  const ticks = [...plot.matchAll(/<text class="tick"([^>]*)>([^<]+)<\/text>/g)].map(([, place = '', text = '']) => ({
    x: Number(/ x="([\d.]+)%"/.exec(place)?.[1]),
    y: Number(/ y="([\d.]+)%"/.exec(place)?.[1]),
    text,
  }))
  const timeOf = axis(
    ticks.filter(({ x }) => !Number.isNaN(x)).map(({ x, text }) => [x * 10, Date.parse(`${text} 2026 UTC`)]),
  )
  const unitsOf = axis(
    ticks.filter(({ x }) => Number.isNaN(x)).map(({ y, text }) => [y * 10, Number(text.replaceAll(',', ''))]),
  )
  const path = (name: string) => new RegExp(`<path class="${name}" d="([^"]+)"`).exec(plot)?.[1] ?? ''
  const days = [...(/<svg class="days".*?<\/svg>/s.exec(html)?.[0] ?? '').matchAll(/<a href="([^"]+)">(.*?)<\/a>/gs)]
  return {
    /** The units in one thousandth of the drawing's height. */
    pixel: Math.abs(unitsOf(1) - unitsOf(0)),
    line: [...path('so-far').matchAll(/[ML]([\d.]+) ([\d.]+)/g)].map(([, x, y]) => ({
      at: timeOf(Number(x)),
      units: unitsOf(Number(y)),
    })),
    steps: stepsIn(path('limit')).map(({ from, to, y }) => ({ from: timeOf(from), to: timeOf(to), units: unitsOf(y) })),
    bars: days.map(([, href = '', bar = '']) => ({
      date: /since=([\d-]+)/.exec(href)?.[1] ?? '',
      title: (/<title>([^<]+)/.exec(bar)?.[1] ?? '').replaceAll('\u{a0}', ' '),
      from: timeOf(Number(/class="hit" x="(\d+)"/.exec(bar)?.[1])),
      height: Number(/height="(\d+)"><\/rect>$/.exec(bar.trim())?.[1]),
    })),
  }
}

/** Maps pixels by the axis's first and last tick. */
function axis(ticks: readonly (readonly [pixel: number, value: number])[]): (pixel: number) => number {
  const [first, last] = [ticks[0], ticks.at(-1)]
  if (!first || !last || first === last) throw new Error('an axis has two ticks at least')
  return (pixel) => first[1] + ((pixel - first[0]) * (last[1] - first[1])) / (last[0] - first[0])
}

function stepsIn(path: string): readonly { from: number; to: number; y: number }[] {
  const [start, ...steps] = path.split(/[VH]/)
  let [from = 0, y = 0] = (start ?? '').slice(1).split(' ').map(Number)
  const found: { from: number; to: number; y: number }[] = []
  for (const [index, text] of steps.entries()) {
    if (path.match(/[VH]/g)?.[index] === 'V') y = Number(text)
    else {
      found.push({ from, to: Number(text), y })
      from = Number(text)
    }
  }
  return found
}

const monthsIn = (html: string): string => /<section aria-labelledby="months".*?<\/section>/s.exec(html)?.[0] ?? ''

const midnight = (day: number): number => Date.UTC(2026, 10, day)
/** Half a thousandth of the month is less than an hour. */
const hour = 3600_000

type Started = Awaited<ReturnType<typeof start>>

/** The drawn figures, each replaced by the records' figure if they differ by less than a pixel. */
function compare(
  { records }: Started,
  budget: string,
  html: string,
  { firstDay, now }: { firstDay: number; now: number },
) {
  const { line, steps, bars, pixel } = drawnIn(html)
  const numbers = Array.from({ length: 30 - firstDay + 1 }, (_, index) => firstDay + index).filter(
    (day) => midnight(day) < now,
  )
  const ends = numbers.map((day) => Math.min(now, midnight(day + 1)))
  const limits = ends.map((at) => records.limit(budget, at))
  const times = [midnight(firstDay), ...ends]
  const near = (found: number | undefined, wanted: number, within: number) =>
    found !== undefined && Math.abs(found - wanted) <= within ? wanted : found
  const left = times.map((at, index) => (limits[Math.max(0, index - 1)] ?? 0) - records.used(budget, at))
  const used = times.slice(1).map((at, index) => records.used(budget, at) - records.used(budget, times[index] ?? 0))
  const most = Math.max(1, ...used)
  const expected = {
    line: times.map((at, index) => [new Date(at).toISOString(), left[index]]),
    steps: ends.map((_, index) => [new Date(times[index] ?? 0).toISOString(), limits[index]]),
    bars: numbers.map((day, index) => ({
      date: `2026-11-${String(day).padStart(2, '0')}`,
      title: `${day} Nov: ${used[index]} ${used[index] === 1 ? 'unit' : 'units'}`.replace('-', '−'),
      height: Math.round((Math.max(0, used[index] ?? 0) / most) * 100),
      from: midnight(day),
    })),
  }
  const found = {
    line: line.map(({ at, units }, index) => [
      new Date(near(at, times[index] ?? 0, hour) ?? 0).toISOString(),
      near(units, left[index] ?? 0, pixel),
    ]),
    steps: ends.map((_, index) => {
      const from = times[index] ?? 0
      const step = steps.find((each) => each.from < from + 2 * hour && each.to > from + 2 * hour)
      return [new Date(from).toISOString(), near(step?.units, limits[index] ?? 0, pixel)]
    }),
    bars: bars.map((bar, index) => ({
      ...bar,
      height: near(bar.height, expected.bars[index]?.height ?? 0, 2),
      from: near(bar.from, expected.bars[index]?.from ?? 0, hour),
    })),
  }
  return { found, expected }
}

const budgetPage = (name: string) => `/dashboard/budgets/${name}`

test('the chart of a month equals its records: each midnight, each limit at its time, and each day', async () => {
  const started = await start()
  const { look, product, sweep, records } = started
  const now = product.clock.now()
  const charts: [budget: string, path: string, firstDay: number][] = [
    ['account', '/', 1],
    ['account', budgetPage('account'), 1],
    ['clients', budgetPage('clients'), 2],
    ['seo', budgetPage('seo'), 2],
    ['ads', budgetPage('ads'), 13],
  ]
  for (const [budget, path, firstDay] of charts) {
    const { found, expected } = compare(started, budget, (await look(path)).html, { firstDay, now })
    expect.soft({ path, ...found }).toEqual({ path, ...expected })
  }
  // The fifth keeps its limit of 500, although a grant followed on the sixth.
  const fifth = compare(started, 'seo', (await look(budgetPage('seo'))).html, { firstDay: 2, now }).found
  expect.soft(fifth.steps.filter(([day]) => /-0[56]T/.test(String(day))).map(([, limit]) => limit)).toEqual([500, 800])

  const months = [...monthsIn((await look(budgetPage('account'))).html).matchAll(/<li><span>(\w+).*?<\/li>/gs)]
  const names = ['Nov', 'Oct', 'Sep', 'Aug', 'Jul', 'Jun']
  const spentIn = names.map((_, back) =>
    records.used('account', now, `month:2026-${String(11 - back).padStart(2, '0')}-01`),
  )
  const most = 5_000
  expect
    .soft(
      months.map(([html, name = '']) => [
        name.slice(0, 3),
        Number(/class="fill" width="([\d.]+)%"/.exec(html)?.[1]),
        /<span class="number">([\d,]+)</.exec(html)?.[1],
        /of ([\d,]+)</.exec(html)?.[1],
      ]),
    )
    .toEqual(
      names.map((name, back) => [
        name,
        expect.closeTo(((spentIn[back] ?? 0) / most) * 100, 1),
        spentIn[back]?.toLocaleString('en'),
        ['4,500', '4,500', '4,000', '4,000', '4,000', '5,000'][back],
      ]),
    )

  for (let day = 15; day <= 30; day++) await sweep(`${new Date(midnight(day)).toISOString().slice(0, 10)}T00:04:00Z`)
  await sweep('2026-12-02T12:00:00Z')
  const past = await look(`/?window=${november}`)
  const { found, expected } = compare(started, 'account', past.html, { firstDay: 1, now: midnight(31) })
  expect.soft(found).toEqual(expected)
})
