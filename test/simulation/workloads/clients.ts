import type { Handlers } from '../handlers.ts'
import type { Choose } from '../step.ts'
import { one } from './chance.ts'

/** `account` is the parent of `agency`, which is the parent of `client`, which owns the project `hooli`. */

const owns = (projects: readonly string[]) => ({
  parent: 'agency',
  limits: [{ window: 'month', units: 60 }],
  projects: projects.map((name) => ({ name })),
})
const agency = { limits: [{ window: 'month', units: 120 }] }

export async function listClients({ call }: Handlers): Promise<void> {
  await call('root', 'PUT', '/budgets/agency', agency)
  await call('root', 'PUT', '/budgets/client', owns(['hooli']))
}

export const askedForClient = (chance: Choose) => ({
  caller: one(chance, ['ada', 'ada', 'root']),
  body: { kind: 'ranking', project: 'hooli', ...one(chance, [{}, { budget: 'agency' }, { budget: 'account' }]) },
  headers: one(chance, [{}, { prefer: 'respond-async' }]),
})

/** Moves `hooli` from `client` to `agency`. Updates that wait for a decision are then refused. */
export const moveProject = ({ call }: Handlers) =>
  call('root', 'PUT', '/budgets/agency?move=true', { ...agency, projects: [{ name: 'hooli' }] })

export async function changeClient(handlers: Handlers, chance: Choose): Promise<void> {
  const { call } = handlers
  const reason = 'a rehearsal'
  const changes: (() => Promise<unknown>)[] = [
    () => call('root', 'POST', `/budgets/${one(chance, ['client', 'agency'])}/freeze`, { reason }),
    () => call('root', 'POST', `/budgets/${one(chance, ['client', 'agency'])}/unfreeze`, { reason }),
    () =>
      call('root', 'PUT', '/budgets/client?move=true', { ...owns(['hooli']), ...one(chance, [{ perUpdate: 20 }, {}]) }),
    () => moveProject(handlers),
    () => call('root', 'PUT', '/budgets/client?release=true', owns([])),
    () => call('root', 'PUT', '/callers/ada', { mayChargeAncestors: chance(2) === 0 }),
  ]
  await one(chance, changes)()
}
