import { describe, expect, test } from 'vitest'
import { attemptId } from '../../../shared/guard/plans/attempts.ts'
import { createPrices } from '../../../shared/guard/plans/forecast.ts'
import type { Plan } from '../../../shared/guard/plans/plans-file.ts'
import { createPlayer } from '../../../shared/guard/plans/player.ts'
import { type Update, wasUpToDate } from '../../../shared/ledger/updates/update.ts'
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

/** The rows of the played plans, and the times that the plans really run. */
async function playOf({ parts, plans, until, start }: RandomLedger) {
  const planned = { ...parts, plans }
  const played = await createPlayer({ ...planned, prices: createPrices(planned).prices }).playPlans(parts.ledger.view())
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
  return { rows, times: timesIn(plans, lastOf, start, until) }
}

async function realRows({ clock, guard, parts }: RandomLedger, times: ReturnType<typeof timesIn>) {
  const rows: string[] = []
  for (const { plan, time } of times) {
    clock.set(new Date(time).toISOString())
    await guard.fire(plan.name, time, time + 900_000)
    const ids = plan.projects.map((project) => attemptId(plan.name, time, project, 0))
    const updates = await parts.ledger.updatesNamed(ids)
    for (const [position, update] of updates.entries()) {
      if (update)
        rows.push(inWords({ ...realRow(update), time, plan: plan.name, project: plan.projects[position] ?? '' }))
    }
  }
  return rows
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
      const { rows, times } = await playOf(ledger)
      const real = await realRows(ledger, times)
      const again = `PLAYED_LEDGERS=1 PLAYED_SEED=${each / 100_000} npx vitest run --config test/vitest.config.ts plans/play.test`
      expect(rows.toSorted(), again).toEqual(real.toSorted())
      for (const row of real) outcomes.add(row.replace(/^.*: ([a-z-]+), .* units, ([a-z-]+), .*$/, '$1 $2'))
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
