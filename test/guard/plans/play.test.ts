import { describe, expect, test } from 'vitest'
import { attemptId } from '../../../shared/guard/plans/attempts.ts'
import { createPlayer } from '../../../shared/guard/plans/player.ts'
import { createPrices } from '../../../shared/guard/plans/prices.ts'
import type { Plan } from '../../../shared/guard/plans-file.ts'
import { type Update, wasUpToDate } from '../../../shared/ledger/updates/update.ts'
import { reportsOf } from '../../../shared/reports/reports.ts'
import { randomLedger, timesIn } from './chance-ledger.ts'

type RandomLedger = Awaited<ReturnType<typeof randomLedger>>

interface Compared {
  readonly time: number
  readonly plan: string
  readonly project: string
  readonly outcome: string
  readonly units: number | null
  readonly slug: string | null
  readonly by: string | null
}

const inWords = ({ time, plan, project, outcome, units, slug, by }: Compared): string =>
  `${new Date(time).toISOString()} ${plan} ${project}: ${outcome}, ${units} units, ${slug}, ${by}`

/** The rows of the played plans, the times that the plans really run, and what is shown of them. */
async function playOf({ guard, parts, plans, until, start }: RandomLedger) {
  const planned = { ...parts, plans }
  const view = await parts.ledger.view()
  const played = await createPlayer({ ...planned, prices: createPrices(planned).prices }).playPlans(view)
  const rows = played.played.runs
    .filter(({ time }) => time <= until)
    .flatMap(({ plan, time, rows }) =>
      rows.map(({ project, outcome, units, why }): string => {
        const isRefused = outcome === 'refused'
        const slug = isRefused && why ? why.slug : null
        return inWords({
          time,
          plan: plan.name,
          project,
          outcome,
          units,
          slug,
          by: isRefused ? (why?.by ?? null) : null,
        })
      }),
    )
  const lastOf = (plan: Plan) => played.plans.find((each) => each.plan === plan)?.last ?? null
  const shown = {
    forecasts: await (await reportsOf(guard)).forecast(view),
    days: (await (await reportsOf(guard)).upcoming(3)).days,
  }
  return { rows, times: timesIn(plans, lastOf, start, until), view, ...shown }
}

/** What the forecasts and the days ahead must say, from the updates that ran. */
function shownOf({ start, until, plans }: RandomLedger, played: Awaited<ReturnType<typeof playOf>>, real: RealRuns) {
  const { view, forecasts, days, times } = played
  const { month, day, definitions } = view
  const isPaused = ({ name }: Plan) => definitions.pausedPlans?.[name] !== undefined
  const sum = (updates: readonly RealUpdate[]) => updates.reduce((units, { charged }) => units + charged, 0)
  const within = (from: number, to: number) => real.ran.filter(({ time }) => time >= from && time < to)
  const ends = { month: month.end, day: Math.min(day.end, month.end) }
  return {
    forecasts: forecasts.map(({ budget, window }) => {
      const own = within(start, ends[window]).filter(({ budgets }) => budgets.includes(budget))
      return [budget, window, sum(own)]
    }),
    days: days
      .filter(({ day }) => day.end <= until)
      .map(({ day: { name, start: from, end: to } }) => {
        const due = times.filter(({ plan, time }) => time >= from && time < to && !isPaused(plan))
        const rows = plans.flatMap(({ name: plan }) => {
          const own = due.filter((each) => each.plan.name === plan).map(({ time }) => time)
          const unpriced = real.unpriced.filter((each) => each.plan === plan && own.includes(each.time)).length
          return own.length === 0
            ? []
            : [{ plan, times: own, units: sum(within(from, to).filter((each) => each.plan === plan)), unpriced }]
        })
        return [name, rows.toSorted((a, b) => (a.plan < b.plan ? -1 : 1))]
      }),
  }
}

const asShown = ({ forecasts, days }: Awaited<ReturnType<typeof playOf>>, until: number) => ({
  forecasts: forecasts.map(({ budget, window, committed }) => [budget, window, committed]),
  days: days
    .filter(({ day }) => day.end <= until)
    .map(({ day: { name }, due }) => [name, due.toSorted((a, b) => (a.plan < b.plan ? -1 : 1))]),
})

interface RealUpdate {
  readonly plan: string
  readonly time: number
  readonly charged: number
  readonly budgets: readonly string[]
}

interface RealRuns {
  readonly rows: readonly string[]
  readonly ran: readonly RealUpdate[]
  readonly unpriced: readonly { readonly plan: string; readonly time: number }[]
}

async function realRuns({ clock, guard, parts }: RandomLedger, times: ReturnType<typeof timesIn>): Promise<RealRuns> {
  const rows: string[] = []
  const ran: RealUpdate[] = []
  const unpriced: { plan: string; time: number }[] = []
  for (const { plan, time } of times) {
    clock.set(new Date(time).toISOString())
    await (await guard.jobs()).fire(plan.name, time, time + 900_000)
    const ids = plan.projects.map((project) => attemptId(plan.name, time, project, 0))
    const updates = await parts.ledger.updatesNamed(ids)
    for (const [position, update] of updates.entries()) {
      if (!update) continue
      const row = { ...realRow(update), time, plan: plan.name, project: plan.projects[position] ?? '' }
      rows.push(inWords(row))
      const { hold, charged = 0 } = update
      if (row.outcome === 'runs' && hold) ran.push({ plan: plan.name, time, charged, budgets: hold.budgets })
      if (row.outcome === 'unpriced') unpriced.push({ plan: plan.name, time })
    }
  }
  return { rows, ran, unpriced }
}

function realRow(update: Update): Omit<Compared, 'time' | 'plan' | 'project'> {
  const { state, charged = null, estimated = null, problem } = update
  const none = { slug: null, by: null }
  if (state === 'settled') return { outcome: 'runs', units: charged, ...none }
  // A plan's next request takes the place of the one that waits.
  if (state === 'awaiting-approval' || state === 'cancelled') return { outcome: 'waits', units: estimated, ...none }
  if (state === 'requested') return { outcome: 'unpriced', units: null, ...none }
  if (wasUpToDate(update)) return { outcome: 'up-to-date', units: null, ...none }
  return { outcome: state, units: estimated, slug: problem?.slug ?? null, by: problem ? deciderOf(problem) : null }
}

/** The budget that a refusal names, or the one that lacks most. */
function deciderOf({ members }: NonNullable<Update['problem']>): string | null {
  const { budget, budgets } = members
  if (typeof budget === 'string') return budget
  if (!Array.isArray(budgets)) return null
  const rows = budgets as unknown as readonly { budget: string; short: number | null; available: number }[]
  const missing = ({ short, available }: (typeof rows)[number]) => short ?? 0 - available
  return rows.reduce((a, b) => (missing(b) > missing(a) ? b : a)).budget
}

const ledgers = Number(process.env.PLAYED_LEDGERS ?? 60)
const seed = Number(process.env.PLAYED_SEED ?? 1)

describe('the played plans', () => {
  test(`equal the real runs of ${ledgers} ledgers by chance from seed ${seed}`, { timeout: 600_000 }, async () => {
    const outcomes = new Set<string>()
    const first = Math.round(seed * 100_000)
    for (let each = first; each < first + ledgers; each++) {
      const ledger = await randomLedger(each)
      const played = await playOf(ledger)
      const real = await realRuns(ledger, played.times)
      const again = `PLAYED_LEDGERS=1 PLAYED_SEED=${each / 100_000} npx vitest run --config test/vitest.config.ts plans/play.test`
      expect(played.rows.toSorted(), again).toEqual(real.rows.toSorted())
      expect(asShown(played, ledger.until), again).toEqual(shownOf(ledger, played, real))
      for (const row of real.rows) outcomes.add(row.replace(/^.*: ([a-z-]+), .* units, ([a-z-]+), .*$/, '$1 $2'))
    }
    // Ledgers by chance must not be so strict that they show nothing.
    if (ledgers >= 60) {
      const slugs = [
        'over-budget',
        'budget-frozen',
        'kind-not-allowed',
        'over-update-limit',
        'duplicate-work',
        'no-price',
      ]
      const wanted = [
        'runs null',
        'waits null',
        'up-to-date null',
        'unpriced null',
        ...slugs.map((slug) => `refused ${slug}`),
      ]
      expect([...outcomes]).toEqual(expect.arrayContaining(wanted))
    }
  })
})
