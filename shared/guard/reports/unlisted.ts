import { budgetNamed, listingsOf, rootBudget } from '../../ledger/book/definitions.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import { isKnownToHaveRun } from '../../ledger/updates/update.ts'
import { summaryDays } from '../../ledger/views/summary.ts'
import type { View } from '../../ledger/views/views.ts'
import { dayMs, minuteMs } from '../../platform/clock.ts'
import type { Plan } from '../plans/plans-file.ts'
import { count, list } from '../sentences.ts'
import { believed, gapsIn } from './summary.ts'

const lookedBackMs = 30 * dayMs
/** The rows of a month are many, and pages show them again and again. */
const believedForMs = 10 * minuteMs
/** The latest updates, of which no summary knows. */
const maxRead = 200
const maxNamed = 5

/** Projects that no budget lists, where other projects are listed and `account` pays without asking. */
export function createUnlisted({ ledger, plans }: { ledger: Ledger; plans: readonly Plan[] }) {
  let last: { readonly at: number; readonly ran: readonly string[] } | null = null

  async function unlistedProjects(view: View): Promise<readonly string[]> {
    const { definitions, now } = view
    const root = budgetNamed(definitions, rootBudget)
    // A narrowed reader sees no root.
    if (!root || (root.unowned ?? 'pay') !== 'pay') return []
    if (!Object.values(definitions.budgets).some(({ projects }) => projects.length > 0)) return []
    if (!last || now - last.at >= believedForMs || now < last.at) last = { at: now, ran: await ranLately(ledger, view) }
    const planned = plans.flatMap(({ enabled, projects }) => (enabled ? projects : []))
    return [...new Set([...planned, ...last.ran])].filter((project) => listingsOf(definitions, project).length === 0)
  }

  return { unlistedProjects }
}

async function ranLately(ledger: Ledger, { definitions, now }: View): Promise<readonly string[]> {
  const since = Math.max(definitions.createdAt - dayMs, now - lookedBackMs)
  const days = summaryDays(definitions.calendar, { since, until: now })
  const summaries = (await ledger.summaries.read(days)).map((each) => believed(each, now))
  const [gap] = gapsIn(summaries)
  const latest = gap ? (await ledger.updates({ since: gap.since }, maxRead)).rows : []
  return [
    ...summaries.flatMap(({ rows }) => rows.filter(({ settled = 0, charged = 0 }) => settled + charged > 0)),
    ...latest.filter(isKnownToHaveRun),
  ].map(({ project }) => project)
}

/** `null`: there is nothing to say. */
export function unlistedInWords(projects: readonly string[]): string | null {
  if (projects.length === 0) return null
  const named = projects.slice(0, maxNamed)
  const more = projects.length - named.length
  const them = projects.length === 1 ? 'it' : 'them'
  const names = list([...named, ...(more > 0 ? [`${count(more)} more`] : [])])
  return `No budget lists ${names}, and ${rootBudget} pays for ${them} without asking. List ${them} in a budget, or set unowned of ${rootBudget} to approve or refuse.`
}
