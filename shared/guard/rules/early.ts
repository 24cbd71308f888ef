import type { View } from '../../ledger/book/view.ts'
import type { Budget } from '../../ledger/definitions/definitions.ts'
import type { Kind } from '../../tracking/kinds.ts'
import type { Slug } from '../problem-types.ts'
import { shownCaller, when, zoneOf } from '../sentences.ts'

/** What an early rule may look at. `day`: of the account's zone, such as `day:2026-11-20`. */
export interface AskedOfBudget {
  readonly kind: Kind
  readonly day: string
}

/** A rule of one budget that refuses an update before its price is known. The texts follow the name of the budget. */
interface EarlyRule {
  readonly slug: Slug
  refuses(budget: Budget, asked: AskedOfBudget): boolean
  /** The refusal of an update, such as `allows ranking updates only`. */
  says(budget: Budget, asked: AskedOfBudget, view: View): string
  /** The refusal of every kind that the budgets below allow. Absent: as `says`. */
  saysOfAll?(budget: Budget): string
  /** The refusal of a plan's runs, in a few words. */
  brief(asked: AskedOfBudget): string
  /** What to do, as a sentence. */
  readonly advice?: string
  /** A refusal in the past. */
  past(had?: number): string
  /** What holds for a budget that passes. */
  readonly passes: string
  readonly remedy: 'unfreeze' | 'change'
}

const freeze: EarlyRule = {
  slug: 'budget-frozen',
  refuses: ({ frozen }) => frozen !== undefined,
  says({ frozen }, _asked, view) {
    if (!frozen) return 'is not frozen'
    return `was frozen by ${shownCaller(view.definitions, frozen.by)} on ${when(frozen.at, zoneOf(view))}: ${frozen.reason}`
  },
  brief: () => 'frozen',
  advice: 'Ask an administrator to unfreeze it.',
  past: () => 'was frozen',
  passes: 'not frozen',
  remedy: 'unfreeze',
}

const kinds: EarlyRule = {
  slug: 'kind-not-allowed',
  refuses: ({ kinds }, { kind }) => kinds?.includes(kind) === false,
  says({ kinds = [] }, { kind }) {
    const allowed = kinds.length === 0 ? 'no updates at all' : `${kinds.join(' and ')} updates only`
    return `allows ${allowed}, and this is a ${kind} update`
  },
  saysOfAll: ({ kinds }) =>
    kinds?.length === 0 ? 'allows no updates at all' : 'allows none of the kinds that the budgets below it allow',
  brief: ({ kind }) => `allows no ${kind} updates`,
  past: () => 'does not allow that kind of update',
  passes: 'open to this kind of update',
  remedy: 'change',
}

/** A budget checks its rules in this order. */
export const earlyRules = { freeze, kinds }

type RuleName = keyof typeof earlyRules

export const earlyRuleNames = Object.keys(earlyRules) as readonly RuleName[]

const rows = Object.entries(earlyRules) as readonly (readonly [RuleName, EarlyRule])[]

export const earlyRuleSlugs = rows.map(([, { slug }]) => slug)

export const earlyRuleOf = (slug: string): EarlyRule | undefined => rows.find(([, rule]) => rule.slug === slug)?.[1]

/** What holds if no rule refuses. */
export const passesEarlyRules = rows.map(([, { passes }]) => passes).join(', and ')

/** The first rule of the nearest budget that refuses. */
export function ruledOutBy(budgets: readonly Budget[], asked: AskedOfBudget) {
  for (const budget of budgets) {
    for (const [, rule] of rows) if (rule.refuses(budget, asked)) return { budget, rule }
  }
  return null
}

/** The first rule after which no kind of update is left, and the refusal. The nearest budget comes first. */
export function allRuledOut(view: View, budgets: readonly Budget[], kinds: readonly Kind[]) {
  const day = view.day.name
  let left = kinds
  for (const budget of budgets) {
    for (const [name, rule] of rows) {
      const [kind] = left
      if (kind === undefined) return null
      left = left.filter((each) => !rule.refuses(budget, { kind: each, day }))
      if (left.length > 0) continue
      return { name, budget, says: rule.saysOfAll?.(budget) ?? rule.says(budget, { kind, day }, view) }
    }
  }
  return null
}
