import { earlyRuleOf, earlyRuleSlugs } from './early.ts'
import { lateRuleOf, lateRuleSlugs } from './late.ts'

/** The problems by which the rules of a budget refuse. */
export const ruleSlugs = [...earlyRuleSlugs, ...lateRuleSlugs]

/** The rule that made a recorded refusal. */
export const ruleOf = (slug: string) => earlyRuleOf(slug) ?? lateRuleOf(slug)
