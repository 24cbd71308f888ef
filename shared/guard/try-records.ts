import type { Ledger } from '../ledger/ledger.ts'
import type { Occurrence } from '../ledger/occurrence.ts'
import type { Request } from '../ledger/update.ts'
import { digest } from '../platform/ids.ts'
import { budgetFor } from './charging.ts'
import type { Plan } from './plan.ts'
import { maxTries, mayHaveMore, type Tried } from './tries.ts'

/** The records of a plan's tries: their ids follow from plan, time, project and number, so that two processes make one. */
export function createTryRecords({ ledger }: { ledger: Ledger }) {
  /** All tries of each project of the plan, read together: most have one. */
  async function triesOf(plan: Plan, { time }: Pick<Occurrence, 'time'>): Promise<Tried[]> {
    let tried: Tried[] = plan.projects.map((project) => ({ project, updates: [] }))
    for (let number = 0; number < maxTries; number++) {
      const wanted = tried.filter(({ updates }) => updates.length === number && mayHaveMore(updates.at(-1)))
      if (wanted.length === 0) break
      const found = await ledger.updatesNamed(wanted.map(({ project }) => tryId(plan.name, time, project, number)))
      const more = new Map(wanted.map(({ project }, position) => [project, found[position]]))
      tried = tried.map((each) => {
        const update = more.get(each.project)
        return update ? { ...each, updates: [...each.updates, update] } : each
      })
    }
    return tried
  }

  async function requestOf(plan: Plan, { time }: Occurrence, { project, updates }: Tried): Promise<Request> {
    const last = updates.at(-1)
    if (last?.state === 'requested') return last
    const { definitions, now } = await ledger.view()
    const { kind, query, leave, whenShort } = plan
    return {
      id: tryId(plan.name, time, project, updates.length),
      kind,
      project,
      plan: plan.name,
      budget: budgetFor(definitions, plan, project),
      ...(plan.budget === undefined && { byDefault: true }),
      caller: `schedule:${plan.name}`,
      via: 'schedule',
      ...(query && { query }),
      ...(leave !== undefined && { leave }),
      ...(whenShort === 'ask' && { whenShort }),
      content: { digest: digest(plan.name, String(time), project), count: 1 },
      createdAt: now,
    }
  }

  return { triesOf, requestOf }
}

const tryId = (plan: string, time: number, project: string, number: number): string =>
  `upd_${digest('plan', plan, String(time), project, String(number))}`
