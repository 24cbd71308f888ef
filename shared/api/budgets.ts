import type { Context } from 'hono'
import * as z from 'zod/mini'
import { budgetName, kindOf, project, units } from '../guard/fields.ts'
import { approvalMsOf } from '../guard/options.ts'
import { maxProjects, removableMembers } from '../guard/people/apply-budgets.ts'
import { problem } from '../guard/problems.ts'
import { unownedRules, windowKinds } from '../ledger/book/definitions.ts'
import { slackChannelId } from '../platform/words.ts'
import { allOf, anyOf, type Kinds, kindsBy } from '../tracking/kinds.ts'
import { invalid, Refusal } from './refusal.ts'
import { monthWindow, reason, subject, type Texts } from './schemas.ts'

const once = <Row>(keyOf: (row: Row) => unknown, message: string) =>
  z.refine<readonly Row[]>((rows) => new Set(rows.map(keyOf)).size === rows.length, message)

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

const takesDuration = 'must be 15 minutes to 7 days, such as 30m, 4h or 2d'
export const approvalExpiresAfter = z
  .string(takesDuration)
  .check(z.refine((text) => approvalMsOf(text) !== null, takesDuration))

const takesChannel = 'must be the id of a Slack channel, such as C02ABCDEF'
const slackChannel = z.string(takesChannel).check(z.regex(slackChannelId, takesChannel))

export function budgetBodies(kinds: Kinds) {
  const policies = () => ({
    perUpdate: z.exactOptional(units),
    approvalAbove: z.exactOptional(units),
    approvalIfGrown: z.exactOptional(perCent(0, 10_000)),
    approvalExpiresAfter: z.exactOptional(approvalExpiresAfter),
    kinds: z.exactOptional(
      z.array(kindOf(kinds), 'must be a list of kinds').check(once((kind) => kind, 'names a kind twice')),
    ),
    approvers: z.exactOptional(
      z.array(subject, 'must be a list of callers').check(z.maxLength(50, 'must have at most 50 approvers')),
    ),
    thresholds: z.exactOptional(
      z
        .array(perCent(1, 1_000), 'must be a list of percentages')
        .check(z.maxLength(10, 'must have at most 10 thresholds')),
    ),
    freezeOnOverrun: z.exactOptional(z.boolean('must be true or false')),
    enforce: z.exactOptional(z.boolean('must be true or false')),
    slackChannel: z.exactOptional(slackChannel),
    unowned: z.exactOptional(z.enum(unownedRules, 'must be pay, approve or refuse')),
  })

  /** Missing members get defaults. */
  const budgetRequest = z.lazy(() =>
    z.strictObject({
      parent: z.exactOptional(z.nullable(budgetName)),
      limits,
      projects: z._default(projects, []),
      ...policies(),
      reason: z.exactOptional(reason),
    }),
  )

  /** Missing members stay unchanged, unless the query prunes them. */
  const applyRequest = z.lazy(() =>
    z.strictObject({
      budgets: z
        .array(
          z.strictObject({
            name: budgetName,
            parent: z.exactOptional(budgetName),
            limits: z.exactOptional(limits),
            projects: z.exactOptional(projects),
            ...policies(),
          }),
          'must be a list of budgets',
        )
        .check(
          z.minLength(1, 'must have 1 to 500 budgets'),
          z.maxLength(500, 'must have 1 to 500 budgets'),
          once(({ name }) => name, 'names a budget twice'),
        ),
      reason: z.exactOptional(reason),
    }),
  )

  return { budgetRequest, applyRequest }
}

export type BudgetBodies = ReturnType<typeof budgetBodies>

export const budgetTexts: Texts = {
  parent:
    'The budget above; `account` without it, at most 8 deep. A child may be larger than its parent: every ancestor counts too.',
  limits: 'A window that is not named is counted, but not limited. 0 means nothing.',
  projects: (kinds) =>
    `What is charged here by default; a project has one owner. \`id\` is what ${anyOf(kindsBy(kinds, 'id'))} paths call it.`,
  approvalAbove: 'A person has to agree above so many units.',
  approvalExpiresAfter:
    'How long an approval may be given: 15 minutes to 7 days, such as `30m`, `4h` or `2d`. Without it as the parent says; a day where no budget above says.',
  approvalIfGrown: 'A person has to agree where the project’s last update cost so many per cent less.',
  kinds: (kinds) => `Which updates; ${allOf(kinds)} without it.`,
  approvers: 'Callers who may approve; everyone with the scope without it.',
  thresholds: 'Per cent of a window that are announced once each; 80 and 100 without it.',
  freezeOnOverrun: 'Freeze the budget when a run cost more than was held.',
  enforce:
    '`false`: its limits are only observed. They refuse nothing, and updates say what they would have refused; its other rules and the limits of all other budgets hold. Never of `account`.',
  slackChannel:
    'The id of the Slack channel for what concerns this budget, which takes a bot token. Without it as the parent says; `SLACK_CHANNEL` where no budget above says.',
  unowned:
    'Of `account` alone: who pays for projects that no budget lists. `pay` (default): the account, or the budget that the request names. `approve`: one of the account’s approvers has to agree. `refuse`: 402. A change without it keeps it.',
}

export const applyTexts: Texts = {
  budgets: 'Members that are not named stay as they are; a new budget needs `limits`; nothing is deleted.',
}

export const windowQuery = z.strictObject({ window: z.exactOptional(monthWindow) })
export const budgetsQuery = z.strictObject({
  window: z.exactOptional(monthWindow),
  sort: z.exactOptional(z.enum(['risk'], 'must be risk')),
})
export const budgetsTexts: Texts = {
  sort: '`risk`: the budgets that are not on track come first. For the open month only.',
}
const release = z.exactOptional(z.enum(['true', 'false'], 'must be true or false'))
export const releaseQuery = z.strictObject({ release })
const releaseText =
  '`true`: projects that no budget would list any more may leave; from then on `account` pays for them, or as its `unowned` says. Without it such a change is 409.'
export const releaseTexts: Texts = { release: releaseText }
const move = z.exactOptional(z.enum(['true', 'false'], 'must be true or false'))
export const putQuery = z.strictObject({ release, move })
const moveText =
  '`true`: a project that another budget lists moves here, with its name and its id. Without it such a row is 400. What is held, in doubt or charged stays where it was.'
// Without a spread, which would keep the texts in the bundle.
export const putTexts: Texts = { release: releaseText, move: moveText }
export const applyQuery = z.strictObject({
  release,
  move,
  'dry-run': z.exactOptional(z.enum(['true', 'false'], 'must be true or false')),
  prune: z.exactOptional(
    z.array(z.enum(['all', ...removableMembers], `takes all, or one of ${removableMembers.join(', ')}`)),
  ),
})

export const pruneTexts: Texts = {
  release: releaseText,
  move: moveText,
  'dry-run': '`true`: only show the difference.',
  prune: 'A member that a named budget loses where its row does not name it; repeat it for more, or `all`.',
}

/** @throws Refusal 404, or 400 for PUT. */
export function budgetNameOf({ req }: Pick<Context, 'req'>): string {
  const parsed = budgetName.safeParse(req.param('name'))
  if (parsed.success) return parsed.data
  if (req.method === 'PUT') throw invalid([{ path: 'name', message: parsed.error.issues[0]?.message ?? '' }])
  throw new Refusal(problem('not-found', 'There is no such budget.'))
}
