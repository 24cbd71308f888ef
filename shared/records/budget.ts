import * as z from 'zod/mini'
import { dayMs, hourMs, minuteMs } from '../platform/clock.ts'
import { slackChannelId, type Units } from '../platform/words.ts'
import { allOf, anyOf, kindsBy } from '../tracking/kinds.ts'
import { budgetName, flag, kindOf, once, project, subject, units } from './common-fields.ts'
import type { Member, Members, Stored } from './record.ts'

export const windowKinds = ['month', 'day'] as const
export type WindowKind = (typeof windowKinds)[number]
export type Limit = Units | 'unlimited'
export interface WindowLimit {
  readonly window: WindowKind
  readonly units: Limit
}

export interface OwnedProject {
  readonly name: string
  /** The project's id in keyword-difficulty paths. */
  readonly id?: string
}

/** Rules for projects that no budget lists, the strictest last. */
export const unownedRules = ['pay', 'approve', 'refuse'] as const
export type Unowned = (typeof unownedRules)[number]

export const maxProjects = 500

const limit = z.lazy(() =>
  z.strictObject({
    window: z.enum(windowKinds, 'must be month or day'),
    units: z.union([units, z.literal('unlimited')], 'must be a whole number of units, or unlimited'),
  }),
)

export const limits = z.lazy(() =>
  z.array(limit, 'must be a list of limits').check(
    z.minLength(1, 'must have 1 or 2 limits'),
    z.maxLength(2, 'must have 1 or 2 limits'),
    once(({ window }) => window, 'names a window twice'),
  ),
)

export const projects = z.lazy(() =>
  z.array(z.strictObject({ name: project, id: z.exactOptional(project) }), 'must be a list of projects').check(
    z.maxLength(maxProjects, `must have at most ${maxProjects} projects`),
    once(({ name }) => name, 'names a project twice'),
  ),
)

const perCent = (from: number, to: number) => {
  const takes = `must be a whole percentage from ${from} to ${to}`
  return z.number(takes).check(z.int(takes), z.gte(from, takes), z.lte(to, takes))
}

/** `null`: malformed, or not between 15 minutes and 7 days. */
export function approvalMsOf(text: string): number | null {
  const [, count, unit] = /^([1-9]\d{0,4})([mhd])$/.exec(text) ?? []
  const ms = Number(count) * (unit === 'm' ? minuteMs : unit === 'h' ? hourMs : dayMs)
  return ms >= 15 * minuteMs && ms <= 7 * dayMs ? ms : null
}

const takesDuration = 'must be 15 minutes to 7 days, such as 30m, 4h or 2d'
export const approvalExpiresAfter = z.lazy(() =>
  z.string(takesDuration).check(z.refine((text) => approvalMsOf(text) !== null, takesDuration)),
)

const takesChannel = 'must be the id of a Slack channel, such as C02ABCDEF'

/** Describes each member once. A new rule needs a row here and the code that applies the rule. */
export const budgetMembers = {
  parent: {
    value: 'text',
    schema: () => z.nullable(budgetName),
    text: 'The budget above; default `account`, at most 8 levels deep. A limit may be larger than the parent’s, because updates count in every ancestor too.',
    label: 'Parent',
    section: 'limits',
  },
  limits: {
    value: 'limits',
    schema: () => limits,
    text: 'A window without a limit is only counted. 0 allows no units.',
    label: 'Limit',
    section: 'limits',
    isRequired: true,
    removable: true,
  },
  projects: {
    value: 'projects',
    schema: () => projects,
    text: (kinds) =>
      `Projects that are charged here by default; a project has one owner. \`id\` is the project’s id in ${anyOf(kindsBy(kinds, 'id'))} paths.`,
    removable: true,
  },
  perUpdate: {
    value: 'units',
    schema: () => units,
    text: 'An update that needs more units is refused.',
    label: 'At most for one update',
    note: 'More than this is refused. Empty: no such rule.',
    section: 'limits',
    csv: true,
    removable: true,
  },
  keep: {
    value: 'units',
    schema: () => units,
    text: 'Units that updates must leave for plans in each limited window of the budget. An update that is not a plan’s is refused if it would leave fewer. Updates of the budgets below must leave them, too.',
    label: 'Keep for plans',
    note: 'Units of each limited window that only plans may use. Empty: none.',
    section: 'limits',
    csv: true,
    removable: true,
  },
  approvalAbove: {
    value: 'units',
    schema: () => units,
    text: 'An update that needs more units than this needs approval.',
    label: 'Approval above',
    note: 'Units for one update. Empty: no such rule.',
    section: 'rules',
    csv: true,
    removable: true,
  },
  approvalIfGrown: {
    value: 'number',
    schema: () => perCent(0, 10_000),
    text: 'An update needs approval if its price exceeds the price of the project’s last update by more than this percentage.',
    label: 'Approval if grown by more than (per cent)',
    note: 'Against the project’s last update. Empty: no such rule.',
    section: 'rules',
    removable: true,
  },
  approvalExpiresAfter: {
    value: 'text',
    schema: () => approvalExpiresAfter,
    text: 'How long an update waits for approval: 15 minutes to 7 days, such as `30m`, `4h` or `2d`. Default: the nearest budget above that sets it, or a day.',
    label: 'Approval expires after',
    note: '15m to 7d, such as 4h. Empty: the parent’s, or a day.',
    section: 'rules',
    removable: true,
  },
  kinds: {
    value: 'texts',
    schema: (kinds) =>
      z.array(kindOf(kinds), 'must be a list of kinds').check(once((kind) => kind, 'names a kind twice')),
    text: (kinds) => `The kinds of update that are allowed; default ${allOf(kinds)}.`,
    label: 'Kinds of update',
    section: 'rules',
    removable: true,
  },
  frozen: { value: 'stop' },
  approvers: {
    value: 'texts',
    schema: () =>
      z.array(subject, 'must be a list of callers').check(z.maxLength(50, 'must have at most 50 approvers')),
    text: 'Callers who may approve. Default: the approvers of the nearest budget above with approvers, or all callers with the scope `approve`.',
    label: 'Approvers',
    note: 'One on a line. Empty: those of the parent, or all callers with the approve scope.',
    section: 'rules',
    csv: true,
    removable: true,
  },
  thresholds: {
    value: 'numbers',
    schema: () =>
      z
        .array(perCent(1, 1_000), 'must be a list of percentages')
        .check(z.maxLength(10, 'must have at most 10 thresholds')),
    text: 'Percentages of a limit; the guard announces each percentage once in a window. Default: 80 and 100.',
    label: 'Tell at (per cent of a limit)',
    note: 'Empty: 80, 100.',
    section: 'rules',
    removable: true,
  },
  freezeOnOverrun: {
    value: 'flag',
    schema: () => flag,
    text: 'Freeze the budget when a run cost more than was held.',
    label: 'Freeze on an overrun',
    section: 'rules',
    removable: true,
  },
  enforce: {
    value: 'no',
    schema: () => flag,
    text: '`false`: its limits are only observed. They refuse nothing, and updates say what they would have refused. Its other rules and the limits of other budgets still apply. Not for `account`.',
    label: 'Over its limits',
    note: 'Only observe: updates say what the limits would have refused; all other rules hold.',
    choices: [
      ['yes', 'refuse updates'],
      ['no', 'only observe'],
    ],
    section: 'limits',
    csv: true,
    removable: true,
  },
  slackChannel: {
    value: 'text',
    schema: () => z.string(takesChannel).check(z.regex(slackChannelId, takesChannel)),
    text: 'The id of the Slack channel for messages about this budget; needs a bot token. Default: the channel of the nearest budget above with a channel, or `SLACK_CHANNEL`.',
    label: 'Slack channel',
    note: 'Its id, such as C02ABCDEF. Empty: the parent’s.',
    section: 'rules',
    removable: true,
  },
  unowned: {
    value: 'choice',
    schema: () => z.enum(unownedRules, 'must be pay, approve or refuse'),
    text: 'Only for `account`: who pays for projects that no budget lists. `pay` (default): the account, or the budget that the request names. `approve`: one of the account’s approvers has to agree. `refuse`: 402. A change without this member keeps the rule.',
    label: 'Projects that no budget lists',
    note: 'Also applies if a request names the budget that pays. Approval needs approvers in the field above.',
    choices: [
      ['pay', 'this account pays'],
      ['approve', 'a person has to approve'],
      ['refuse', 'refuse'],
    ],
    section: 'rules',
  },
} as const satisfies Members

/** A window that `limits` lacks is counted, but not limited. */
export interface Budget extends Stored<typeof budgetMembers> {
  readonly name: string
  /** `null`: the root. */
  readonly parent: string | null
  readonly limits: readonly WindowLimit[]
  readonly projects: readonly OwnedProject[]
}

type MemberWith<Flag> = {
  [Name in keyof typeof budgetMembers]: (typeof budgetMembers)[Name] extends Flag ? Name : never
}[keyof typeof budgetMembers]

const membersWith = <Flag extends 'csv' | 'removable'>(flag: Flag) =>
  Object.entries<Member>(budgetMembers)
    .filter(([, member]) => member[flag])
    .map(([name]) => name as MemberWith<Readonly<Record<Flag, true>>>)

/** The members that `prune` may remove. `parent` and `unowned` always stay. */
export const removableMembers = membersWith('removable')
export type RemovableMember = (typeof removableMembers)[number]

/** The columns of the budgets' file. */
export const csvMembers = membersWith('csv')
export const csvColumns: readonly string[] = ['budget', 'parent', 'month', 'day', 'project', 'id', ...csvMembers]
