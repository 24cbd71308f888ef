import { type Budget, type Definitions, type Listing, listingsOf, rootBudget } from '../definitions/definitions.ts'
import type { Write } from '../store/store.ts'
import { announce } from '../updates/tasks.ts'

type Budgets = Pick<Definitions, 'budgets'>

export interface Release extends Listing {
  /** The name that no budget lists any more, or the id if only the id was removed. */
  readonly text: string
}

/** The projects that a change leaves without an owner. A row that gets another id keeps its project. */
export function releasedBy(before: Budgets, after: Budgets): readonly Release[] {
  const stays = (text: string) => listingsOf(after, text).length > 0
  const hasId = (name: string) => listingsOf(after, name).some(({ project }) => project.id !== undefined)
  return Object.values(before.budgets).flatMap((budget) =>
    budget.projects.flatMap((project) => {
      const { name, id } = project
      if (!stays(name)) return [{ budget, project, text: name }]
      return id === undefined || stays(id) || hasId(name) ? [] : [{ budget, project, text: id }]
    }),
  )
}

const maxNamed = 20

/** Announces the projects that no budget lists any more. */
export function releaseAnnouncement(
  { before, after, now }: { readonly before: Definitions; readonly after: Definitions; readonly now: number },
  { by, reason }: { readonly by: string; readonly reason: string },
): Write[] {
  const released = releasedBy(before, after)
  const [budget, ...others] = new Set(released.map((listing) => listing.budget.name))
  if (budget === undefined) return []
  const projects = released.slice(0, maxNamed).map(({ text }) => text)
  const more = released.length - projects.length
  const about = { kind: 'released', budget, otherBudgets: others.length, projects, more, by, reason } as const
  return [announce(`released#${after.revision}`, now, about)]
}

/** Only the root may set `unowned`. With `approve`, the root needs approvers, because approvers decide. */
export const unownedFaultsOf = (budgets: readonly Budget[]): readonly { path: string; message: string }[] =>
  budgets.flatMap(({ name, unowned, approvers = [] }) => {
    if (unowned !== undefined && name !== rootBudget)
      return [{ path: 'unowned', message: `only ${rootBudget} says what happens to projects that no budget lists` }]
    if (unowned !== 'approve' || approvers.length > 0) return []
    const message = `${rootBudget} needs approvers while it wants approval for projects that no budget lists (unowned: approve)`
    return [{ path: 'approvers', message }]
  })
