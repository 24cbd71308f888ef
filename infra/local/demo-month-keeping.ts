import type { State } from '../../functions/sandbox/state.ts'
import { definitionsKey } from '../../shared/ledger/definitions-item.ts'
import type { Item, Store } from '../../shared/ledger/store.ts'
import { digest } from '../../shared/platform/ids.ts'
import type { Stage } from './demo-month-stage.ts'
import { CannotGoOn } from './failures.ts'

/** DynamoDB takes a hundred, and four megabytes of them. */
const itemsAtOnce = 50

/**
 * What was played in memory goes where `npm start` looks. The definitions go first: whoever has written them has the
 * ledger to themselves.
 *
 * @throws CannotGoOn when somebody else has.
 */
export async function keepMonth(
  { items, service }: Stage,
  to: { store: Store; service: State; unitsPerMonth: number },
): Promise<void> {
  const isDefinitions = ({ pk, sk }: Item) => pk === definitionsKey.pk && sk === definitionsKey.sk
  const all = [...items.values()].toSorted((a, b) => Number(isDefinitions(b)) - Number(isDefinitions(a)))
  for (let from = 0; from < all.length; from += itemsAtOnce) {
    const writes = all
      .slice(from, from + itemsAtOnce)
      .map((item) => ({ do: 'put', item, when: [{ is: 'absent-item' }] }) as const)
    const { applied } = await to.store.transact(writes, digest('month', JSON.stringify(writes)))
    if (!applied) throw new CannotGoOn('Somebody else has begun to use this ledger; take another one: set DATA_DIR.')
  }
  const { projects } = await service.meet(() => false)
  for (const { id: _its, ...project } of projects) await to.service.addProject(project)
  for (const run of await service.runs()) await to.service.addRun(run, to.unitsPerMonth)
}
