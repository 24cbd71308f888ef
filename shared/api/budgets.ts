import type { Context } from 'hono'
import * as z from 'zod/mini'
import { problem } from '../guard/problems.ts'
import { budgetMembers, limits, projects, removableMembers } from '../records/budget.ts'
import { budgetName, once } from '../records/common-fields.ts'
import { requestShape } from '../records/record.ts'
import type { Kinds } from '../tracking/kinds.ts'
import type { Columns } from './csv.ts'
import { invalid, Refusal } from './refusal.ts'
import { monthWindow, reason, type Texts } from './schemas.ts'
import type { Shown } from './shown.ts'

export function budgetBodies(kinds: Kinds) {
  /** Missing members get defaults. */
  const budgetRequest = z.lazy(() =>
    z.strictObject({
      ...requestShape(budgetMembers, kinds),
      limits,
      projects: z._default(projects, []),
      reason: z.exactOptional(reason),
    }),
  )

  const named = () => ({ name: budgetName, ...requestShape(budgetMembers, kinds), parent: z.exactOptional(budgetName) })
  /** Missing members stay unchanged, unless the query prunes them. */
  const applyRequest = z.lazy(() =>
    z.strictObject({
      budgets: z.array(z.strictObject(named()), 'must be a list of budgets').check(
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
  '`true`: a project may leave its budget although no other budget lists it. From then on `account` pays for the project, or the `unowned` of `account` decides. Without `release` such a change is 409.'
export const releaseTexts: Texts = { release: releaseText }
const move = z.exactOptional(z.enum(['true', 'false'], 'must be true or false'))
const asWritten = z.exactOptional(z.enum(['true', 'false'], 'must be true or false'))
export const putQuery = z.strictObject({ release, move, asWritten })
const moveText =
  '`true`: a project that another budget lists moves here, with its name and its id. Without `move` such a row is 400. Units that are held, in doubt or charged stay with the old budget.'
const asWrittenText =
  '`true`: rows are taken as they are written, also if the service lists a project under another id, or cannot list its projects now. Without `asWritten` such a row is 409 `contradicted`.'
// No spread here: it would keep the texts in the bundle.
export const putTexts: Texts = { release: releaseText, move: moveText, asWritten: asWrittenText }
export const applyQuery = z.strictObject({
  release,
  move,
  asWritten,
  'dry-run': z.exactOptional(z.enum(['true', 'false'], 'must be true or false')),
  prune: z.exactOptional(
    z.array(z.enum(['all', ...removableMembers], `must be all or one of ${removableMembers.join(', ')}`)),
  ),
})

export const pruneTexts: Texts = {
  release: releaseText,
  move: moveText,
  asWritten: asWrittenText,
  'dry-run': '`true`: only show the difference.',
  prune:
    'Removes this member from each named budget whose row does not name it. Repeat it for more members, or use `all`.',
}

/** Figures for readers. The file that `npm run budgets -- apply` reads has other columns. */
export const budgetColumns: Columns<Shown<'Budget'>> = {
  name: ({ name }) => name,
  parent: ({ parent }) => parent ?? '',
  status: ({ status }) => status ?? '',
  left: ({ windows }) => windows.find(({ window }) => window === 'month')?.available ?? '',
  nextKind: ({ next }) => next?.kind ?? '',
  nextBudget: ({ next }) => next?.budget ?? '',
  nextUnits: ({ next }) => next?.units ?? '',
  nextUpdates: ({ next }) => next?.updates ?? '',
  next: ({ next }) => next?.sentence ?? '',
}

/** @throws Refusal 404, or 400 for PUT. */
export function budgetNameOf({ req }: Pick<Context, 'req'>): string {
  const parsed = budgetName.safeParse(req.param('name'))
  if (parsed.success) return parsed.data
  if (req.method === 'PUT') throw invalid([{ path: 'name', message: parsed.error.issues[0]?.message ?? '' }])
  throw new Refusal(problem('not-found', 'There is no such budget.'))
}
