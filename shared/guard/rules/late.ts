import { type Budget, type Definitions, rulesOfCaller } from '../../ledger/definitions/definitions.ts'
import type { Units } from '../../platform/words.ts'
import type { Slug } from '../problem-types.ts'
import { count, units as inUnits } from '../sentences.ts'

/** A budget of the owner's chain, or the caller. */
export interface Ruled {
  readonly name: string
  readonly shown: string
  readonly perUpdate?: Units | undefined
}

/** A rule that compares the units of one update. The texts follow the name of the budget or caller. */
interface LateRule {
  readonly slug: Slug
  refuses(by: Ruled, units: number): boolean
  says(by: Ruled): string
  /** The refusal of a plan's runs, in a few words. */
  brief(by: Ruled): string
  /** A refusal in the past. `had`: the figure that was too small. */
  past(had: number | undefined): string
  /** Further members of the problem. */
  members(by: Ruled): Readonly<Record<string, number>>
  readonly remedy: 'change'
}

const perUpdate: LateRule = {
  slug: 'over-update-limit',
  refuses: ({ perUpdate }, units) => perUpdate !== undefined && units > perUpdate,
  says: ({ perUpdate = 0 }) => `allows at most ${count(perUpdate)} for one update`,
  brief: ({ perUpdate = 0 }) => `allows ${count(perUpdate)} for one update`,
  past: (had) => `allows ${had === undefined ? 'less' : `at most ${count(had)}`} for one update`,
  members: ({ perUpdate = 0 }) => ({ perUpdate }),
  remedy: 'change',
}

export const lateRules = { perUpdate }

const rows: readonly LateRule[] = Object.values(lateRules)

export const lateRuleSlugs = rows.map(({ slug }) => slug)

export const lateRuleOf = (slug: string): LateRule | undefined => rows.find((rule) => rule.slug === slug)

/** The first rule that refuses, of the first of these budgets and callers. */
export function refusedBy(all: readonly Ruled[], units: number) {
  for (const by of all) {
    for (const rule of rows) if (rule.refuses(by, units)) return { by, rule }
  }
  return null
}

/** The first rule that refuses these units for one update: of the owner's budgets, then of the caller. */
export function strictFor(
  definitions: Definitions,
  rules: readonly Budget[],
  caller: { readonly name: string; readonly shown: string },
  units: number,
) {
  const own = { ...caller, perUpdate: rulesOfCaller(definitions, caller.name)?.perUpdate }
  const all = [...rules.map(({ name, perUpdate }) => ({ name, shown: name, perUpdate })), own]
  return refusedBy(all, units)
}

/** The refusal of an update, as a sentence. */
export const refusalOf = ({ by, rule }: NonNullable<ReturnType<typeof refusedBy>>, units: Units): string =>
  `This update needs ${inUnits(units)}, and ${by.shown} ${rule.says(by)}.`
