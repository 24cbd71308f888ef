import type { Item } from '../../../shared/ledger/store/store.ts'

/** Reads the stored table for checks that do not use the ledger's code. */

export class Broken extends Error {
  override readonly name = 'Broken'
}

export type Items = ReadonlyMap<string, Item>
export interface Counter {
  readonly l: number | 'u'
  readonly g: number
  readonly a: number
  readonly h: number
  readonly i: number
  readonly s: number
  readonly o?: number
}
export interface Lacked {
  readonly budget: string
  readonly window: string
  readonly units: number
}
export interface Row {
  readonly id: string
  readonly kind: string
  readonly project: string
  readonly budget: string
  readonly byDefault?: true
  readonly owner?: string | null
  readonly caller: string
  readonly plan?: string
  readonly content: { readonly digest: string }
  readonly state: string
  readonly version: number
  readonly month: string
  readonly createdAt: number
  readonly charged?: number
  readonly overrun?: number
  readonly closedBy?: string
  readonly finishedAt?: number
  readonly force?: true
  readonly corrected?: true
  readonly chargeCorrected?: { readonly by: string; readonly from: number }
  readonly problem?: { readonly slug: string; readonly budget?: string }
  readonly leave?: number | Readonly<Record<string, number>>
  readonly wouldHaveRefused?: readonly Lacked[]
  readonly estimated?: number
  readonly approval?: Approved
  readonly hold?: {
    readonly units: number
    readonly budgets: readonly string[]
    readonly owners?: readonly string[]
    readonly grants?: readonly Lacked[]
    readonly day: string
    readonly attempt: string
    readonly at: number
    readonly senderUntil: number
  }
  readonly doubt?: { readonly by: string; readonly at: number }
  readonly history: readonly {
    readonly state: string
    readonly by: string
    readonly move?: { readonly spent?: number }
  }[]
}

export interface Approved {
  readonly by: string
  readonly units: number
  /** Present if the approval covers what the update lacks when it starts. */
  readonly covers?: {
    readonly month: string
    readonly day: string
    readonly limits: readonly (Omit<Lacked, 'units'> & { readonly limit: number; readonly granted: number })[]
  }
}

/** What the update was charged before an administrator corrected it. */
export const chargedBySender = ({ chargeCorrected, charged = 0, history }: Row): number =>
  chargeCorrected
    ? history.reduce((sum, { by, move }) => sum + (by === chargeCorrected.by ? 0 : (move?.spent ?? 0)), 0)
    : charged

export function broken(why: string): never {
  throw new Broken(why)
}

export const asRow = (item: Item) => item as unknown as Row
export const isUpdate = (item: Item) => item.sk === 'update'

export const rowsOf = (items: Items): Row[] => [...items.values()].filter(isUpdate).map(asRow)

interface Definitions {
  readonly budgets: Readonly<Record<string, StoredBudget | undefined>>
  readonly callers?: Readonly<Record<string, StoredCaller | undefined>>
}

export interface StoredBudget {
  readonly parent: string | null
  readonly projects: readonly { readonly name: string; readonly id?: string }[]
  readonly frozen?: unknown
  readonly enforce?: false
  readonly kinds?: readonly string[]
  readonly perUpdate?: number
  readonly keep?: number
  readonly approvalAbove?: number
  readonly approvers?: readonly string[]
}

interface StoredCaller {
  readonly person?: string
  readonly disabled?: boolean
  readonly mayChargeAncestors?: true
  readonly perUpdate?: number
  readonly limits?: readonly { readonly window: 'month' | 'day'; readonly units: number | 'unlimited' }[]
}

export function definitionsIn(items: Items): Definitions {
  const found = [...items.values()].find(({ pk }) => pk === 'definitions')
  return found ? (found as unknown as Definitions) : broken('the definitions are gone')
}

export const countersOf = (book: Item): [window: 'month' | 'day', budget: string, counter: Counter][] =>
  (['month', 'day'] as const).flatMap((window) =>
    Object.entries(book[window] as unknown as Record<string, Counter>).map(
      ([budget, counter]): [typeof window, string, Counter] => [window, budget, counter],
    ),
  )
