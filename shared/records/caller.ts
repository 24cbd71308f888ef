import * as z from 'zod/mini'
import { scopes, slackTeam } from '../platform/words.ts'
import { limits } from './budget.ts'
import { budgetName, flag, subject, units } from './common-fields.ts'
import type { Members, Stored } from './record.ts'

const takesTeam = 'must be the id of a Slack workspace (T…) or organization (E…)'
const takesRate = 'must be a whole number of requests from 1 to 100000'
const adminOrYes = [
  ['no', 'only with admin'],
  ['yes', 'yes'],
] as const

export const callerMembers = {
  scopes: {
    value: 'texts',
    schema: () =>
      z
        .array(z.enum(scopes, `must be one of ${scopes.join(', ')}`), 'must be a list of scopes')
        .check(z.maxLength(scopes.length, 'names a scope twice')),
    text: 'A token has at most these scopes. A Slack user has exactly these scopes.',
    label: 'Scopes',
  },
  budgets: {
    value: 'budgets',
    schema: () =>
      z.union(
        [z.literal('*'), z.array(budgetName).check(z.maxLength(200))],
        'must be "*", or a list of at most 200 budgets',
      ),
    text: 'Budgets that the caller may charge, descendants included; `*`: all. A token may charge at most these budgets.',
    label: 'Budgets',
    note: 'One per line; includes the budgets below each.',
  },
  readsBudgets: {
    value: 'texts',
    schema: () =>
      z.array(budgetName, 'must be a list of budgets').check(z.maxLength(200, 'must have at most 200 budgets')),
    text: 'Budgets that the caller may read, descendants included. Default: all. A caller with this member cannot be an administrator.',
    label: 'Budgets to read',
    note: 'One per line; includes the budgets below each. The caller sees only their projects, updates and bookings.',
  },
  person: {
    value: 'text',
    schema: () => subject,
    text: 'The person behind the caller. Callers of one person cannot approve each other’s requests. If this person is a listed caller with a `person`, the latter counts. A circle is refused.',
    label: 'Person',
    note: 'The person behind several callers, such as a token and a Slack user. No person approves their own request. Empty: a person of its own.',
    section: 'who',
  },
  slackTeam: {
    value: 'text',
    schema: () => z.string(takesTeam).check(z.regex(slackTeam, takesTeam)),
    text: 'The Slack workspace or organization of the user, because Slack’s user ids are unique only within one. Absent: the one of the next request is kept here. Requests of others are refused.',
    label: 'Slack workspace',
    note: 'Empty: the workspace of the next request is kept. Requests of another workspace are refused.',
    section: 'slack',
  },
  disabled: {
    value: 'yes',
    schema: () => flag,
    text: 'Blocks the caller: updates and changes at once, reads within two seconds.',
  },
  mayForce: {
    value: 'yes',
    schema: () => flag,
    text: 'May force updates without `admin`. Only this member and `mayChargeAncestors` add rights to a token.',
    label: 'May force',
    note: 'Skips the cool-down, so the same work is paid again.',
    choices: adminOrYes,
    section: 'may',
  },
  mayChargeAncestors: {
    value: 'yes',
    schema: () => flag,
    text: 'May charge a budget above the one that owns a project, without `admin`. The owner’s rules apply, its limits do not.',
    label: 'May charge ancestors of an owner',
    note: 'Charge a budget above the one that owns a project. The owner’s rules hold, its limits do not.',
    choices: adminOrYes,
    section: 'budgets',
  },
  limits: {
    value: 'limits',
    schema: () => limits,
    text: 'The caller’s own limits over all budgets, checked with each hold. Refusals name the counter `caller:<sub>`. Not for `*`.',
    label: 'Limit',
    note: 'Units, or “unlimited”.',
    section: 'limits',
  },
  perUpdate: {
    value: 'units',
    schema: () => units,
    text: 'An update that needs more units is refused.',
    label: 'At most for one update',
    note: 'Units. Empty: no limit.',
    section: 'limits',
  },
  ratePerMinute: {
    value: 'number',
    schema: () => z.number(takesRate).check(z.int(takesRate), z.gte(1, takesRate), z.lte(100_000, takesRate)),
    text: 'More requests in a minute get 429. Each process counts its own requests.',
    label: 'Requests a minute',
    note: 'Empty: no limit.',
    section: 'limits',
  },
} as const satisfies Members

/** An absent member does not narrow a token. A Slack user has only the listed scopes and budgets. */
export type Caller = Stored<typeof callerMembers>

/** The members that `*` may have. A right would reach all callers, and a limit would need a counter for each one. */
export const membersForUnlisted = ['perUpdate', 'ratePerMinute'] as const
export type CallerDefaults = Pick<Caller, (typeof membersForUnlisted)[number]>
