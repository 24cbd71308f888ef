import type { View } from '../../ledger/book/view.ts'
import { type Budget, type CounterOwner, limitsOfCaller } from '../../ledger/definitions/definitions.ts'
import type { UpdateRequest } from '../../ledger/updates/update.ts'
import { type Figures, figuresOfChain, refuses } from '../sentences.ts'

export const countersOf = (
  view: View,
  chain: readonly Budget[],
  { caller }: Pick<UpdateRequest, 'caller'>,
): readonly CounterOwner[] => [...chain, ...limitsOfCaller(view.definitions, caller)]

export const limited = (view: View, counters: readonly CounterOwner[]): readonly Figures[] =>
  figuresOfChain(view, counters).filter(({ limit }) => limit !== 'unlimited')

/** The counters that can refuse an update. */
export const enforced = (view: View, counters: readonly CounterOwner[]): readonly Figures[] =>
  figuresOfChain(view, counters).filter(refuses)

export const observed = (view: View, counters: readonly CounterOwner[]): readonly Figures[] =>
  limited(view, counters).filter((figures) => !refuses(figures))
