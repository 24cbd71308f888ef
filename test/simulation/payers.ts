import { one } from './chance.ts'
import type { Rooms } from './rooms.ts'
import type { Choose } from './step.ts'
import { broken, definitionsIn, type Items, type Row, type StoredBudget } from './stored.ts'
import { plain } from './works.ts'

/** `account` is the parent of `agency`, which is the parent of `client`, which owns the project `hooli`. */

const owns = (projects: readonly string[]) => ({
  ...{ parent: 'agency', limits: [{ window: 'month', units: 60 }] },
  projects: projects.map((name) => ({ name })),
})

export async function listClients({ call }: Rooms): Promise<void> {
  await call('root', 'PUT', '/budgets/agency', { limits: [{ window: 'month', units: 120 }] })
  await call('root', 'PUT', '/budgets/client', owns(['hooli']))
}

/** An update of the client's project, charged to the client or to a budget above it. */
export const askedForClient = (chance: Choose) => ({
  caller: one(chance, ['ada', 'ada', 'root']),
  body: { kind: 'ranking', project: 'hooli', ...one(chance, [{}, { budget: 'agency' }, { budget: 'account' }]) },
  headers: one(chance, [{}, { prefer: 'respond-async' }]),
})

/** From the client to no budget. */
export const moveProject = ({ call }: Rooms) => call('root', 'PUT', '/budgets/client', owns([]))

/** Changes what decides about such an update: the owner, its rules, or the right to name another payer. */
export async function changeClient(rooms: Rooms, chance: Choose): Promise<void> {
  const { call } = rooms
  const reason = 'a rehearsal'
  const changes: (() => Promise<unknown>)[] = [
    () => call('root', 'POST', `/budgets/${one(chance, ['client', 'agency'])}/freeze`, { reason }),
    () => call('root', 'POST', `/budgets/${one(chance, ['client', 'agency'])}/unfreeze`, { reason }),
    () => call('root', 'PUT', '/budgets/client', { ...owns(['hooli']), ...one(chance, [{ perUpdate: 20 }, {}]) }),
    () => moveProject(rooms),
    () => call('root', 'PUT', '/callers/ada', { mayChargeAncestors: chance(2) === 0 }),
  ]
  await one(chance, changes)()
}

const isListedIn = (budget: StoredBudget | undefined, project: string): boolean =>
  budget?.projects.some(({ name, id = name }) => [plain(name), plain(id)].includes(plain(project))) === true

/**
 * The owner pays, or an ancestor of it by a right that holds at that moment; a charge by default is the default's of now;
 * and no rule of the owner or of a budget above it is broken.
 */
export function lookAtPayer({ id, project, budget, byDefault, caller, plan, hold }: Row, items: Items): void {
  const { budgets, callers = {} } = definitionsIn(items)
  const owner = Object.entries(budgets).find(([, each]) => isListedIn(each, project))?.[0]
  if (byDefault && budget !== (owner ?? 'account')) broken(`${id} is charged to ${budget}, and ${project} has moved`)
  if (owner === undefined) return
  const chain: string[] = []
  for (let name: string | null = owner; name !== null; name = budgets[name]?.parent ?? null) chain.push(name)
  if (!chain.includes(budget)) broken(`${id} is charged to ${budget}, though ${project} belongs to ${owner}`)
  const may = caller === 'root' || callers[caller]?.mayChargeAncestors === true || plan !== undefined
  if (budget !== owner && !may) broken(`${id} is charged to ${budget} without the right, and belongs to ${owner}`)
  for (const name of chain) {
    if (budgets[name]?.frozen !== undefined) broken(`${id} holds for ${owner}, and ${name} is frozen`)
    const perUpdate = budgets[name]?.perUpdate
    if (perUpdate !== undefined && (hold?.units ?? 0) > perUpdate) broken(`${id} holds more than ${name} allows`)
  }
  const below = chain.slice(0, chain.indexOf(budget))
  if (JSON.stringify(hold?.owners ?? []) !== JSON.stringify(below)) broken(`${id} does not say for whom ${budget} pays`)
}
