import { composition } from './rivals/composition.ts'
import { naive, noGuard, transactions } from './rivals/floors.ts'
import type { Ground, Rival } from './rivals/rival.ts'
import { ownRequests, unitGuard } from './rivals/unit-guard.ts'

interface RivalKind {
  create(ground: Ground): Promise<Rival>
  /** The key of the table that the rival writes. */
  readonly key: readonly string[]
}

/** The ways to spend units that are compared. */
export const rivals = {
  'Unit Guard': { create: unitGuard, key: ['pk', 'sk'] },
  'own requests': { create: ownRequests, key: ['pk', 'sk'] },
  'no guard': { create: noGuard, key: ['id'] },
  composition: { create: composition, key: ['id'] },
  naive: { create: naive, key: ['id'] },
  floor: { create: transactions, key: ['id'] },
} as const satisfies Record<string, RivalKind>

export type RivalName = keyof typeof rivals
export const rivalNames = Object.keys(rivals) as RivalName[]
