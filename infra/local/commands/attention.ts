import type { Guard } from '../../../shared/guard/guard.ts'
import { count, countOf, list, when, zoneOf } from '../../../shared/guard/sentences.ts'
import type { View } from '../../../shared/ledger/book/view.ts'
import { all } from '../../../shared/ledger/store/pages.ts'
import { reportsOf } from '../../../shared/reports/reports.ts'
import { unlistedInWords } from '../../../shared/reports/unlisted.ts'
import type { Services } from '../../../shared/services/services.ts'
import { findIds } from './projects.ts'

const maxBudgets = 10
const maxIds = 5
const pageSize = 100

interface Attention {
  /** Budgets at risk, the greatest risk first, then updates that need a decision. */
  readonly urgent: readonly string[]
  readonly paused: readonly string[]
  readonly frozen: readonly string[]
}

export async function attentionOf(guard: Guard, given?: View): Promise<Attention> {
  const reports = await reportsOf(guard)
  const { view, budgets } = await reports.outlook(given)
  const linesOf = (isIncluded: (reason: string) => boolean): string[] => {
    const bySentence = new Map<string, string[]>()
    for (const { budget, sentence, reasons } of budgets) {
      if (sentence !== null && isIncluded(reasons[0]?.kind ?? ''))
        bySentence.set(sentence, [...(bySentence.get(sentence) ?? []), budget])
    }
    return [...bySentence].map(([sentence, names]) => {
      const isNamed = sentence.startsWith('The plan ') || names.some((name) => sentence.startsWith(`${name} `))
      return isNamed ? sentence : `${list(names)}: ${sentence}`
    })
  }
  const risks = linesOf((kind) => kind !== 'frozen' && kind !== 'plan-paused')
  const more = risks.length - maxBudgets
  const names = await aboutNames(guard, view)
  return {
    urgent: [
      ...risks.slice(0, maxBudgets),
      ...(more > 0 ? [`${count(more)} more budgets are at risk: the dashboard lists them.`] : []),
      ...(await decisionsOf(guard, zoneOf(view))),
      ...names,
    ],
    paused: linesOf((kind) => kind === 'plan-paused'),
    frozen: linesOf((kind) => kind === 'frozen'),
  }
}

/** Projects that no budget lists, and names that are refused because they look like listed names. */
export async function aboutNames(guard: Guard, view: View): Promise<readonly string[]> {
  const reports = await reportsOf(guard)
  return [unlistedInWords(await reports.unlistedProjects(view)), await reports.refusedLately(view)].filter(
    (each) => each !== null,
  )
}

/** Ids in budgets that the service gives to other projects. Empty if the service cannot list its projects now. */
export async function aboutIds({ tracking }: Pick<Services, 'tracking'>, { definitions }: View): Promise<string[]> {
  const budgets = Object.values(definitions.budgets)
  if (!budgets.some(({ projects }) => projects.some(({ id }) => id !== undefined))) return []
  const lists = await tracking.projects()
  const sentences = lists === null ? [] : findIds(budgets, lists).contradicted
  const more = sentences.length - maxIds
  return [...sentences.slice(0, maxIds), ...(more > 0 ? [`${count(more)} more ids: npm run doctor lists them`] : [])]
}

async function decisionsOf({ ledger }: Guard, zone: string): Promise<readonly string[]> {
  const open = (as: 'awaiting-approval' | 'in-doubt') => all((cursor) => ledger.open(as, pageSize, cursor))
  const [waiting, doubts] = await Promise.all([open('awaiting-approval'), open('in-doubt')])
  const until = waiting.flatMap(({ approvableUntil }) => approvableUntil ?? [])
  const since = doubts.flatMap(({ doubt }) => doubt?.at ?? [])
  const first = (times: readonly number[]) => when(Math.min(...times), zone)
  return [
    ...(until.length > 0
      ? [`${countOf(until.length, 'update needs', 'updates need')} approval, the first until ${first(until)}.`]
      : []),
    ...(since.length > 0
      ? [
          `${countOf(since.length, 'update is', 'updates are')} in doubt, the first since ${first(since)}: someone has to say what happened.`,
        ]
      : []),
  ]
}
