import { join, resolve } from 'node:path'
import type { Database } from './database.ts'
import { composition } from './rivals/composition.ts'
import { naive, noGuard, puts, transactions } from './rivals/floors.ts'
import type { Ground, Rival } from './rivals/rival.ts'
import { ownRequests, unitGuard } from './rivals/unit-guard.ts'

interface RivalKind {
  create(ground: Ground): Promise<Rival>
  /** The key of the table that it writes. */
  readonly key: readonly string[]
  /** Another version has clients of its own. */
  readonly databaseAt?: (endpoint: string) => Database
}

/**
 * What is compared. `--before` loads this file and `database.ts` of another version: they keep their names.
 *
 * @public
 */
export const rivals = {
  'Unit Guard': { create: unitGuard, key: ['pk', 'sk'] },
  'own requests': { create: ownRequests, key: ['pk', 'sk'] },
  'no guard': { create: noGuard, key: ['id'] },
  composition: { create: composition, key: ['id'] },
  naive: { create: naive, key: ['id'] },
  'floor, transactions': { create: transactions, key: ['id'] },
  'floor, puts': { create: puts, key: ['id'] },
} as const satisfies Record<string, RivalKind>

export type RivalName = keyof typeof rivals | 'version before'
export type Rivals = ReadonlyMap<RivalName, RivalKind>

/** @param before the folder of another version, with its packages installed: its guard takes part as well. */
export async function rivalsWith(before: string | undefined): Promise<Rivals> {
  const own = Object.entries(rivals) as [RivalName, RivalKind][]
  if (before === undefined) return new Map(own)
  const load = (file: string) => import(join(resolve(before), 'test/bench', file))
  const { rivals: theirs }: { rivals: typeof rivals } = await load('rivals.ts')
  const { databaseAt }: { databaseAt: (endpoint: string) => Database } = await load('database.ts')
  return new Map([...own, ['version before', { ...theirs['Unit Guard'], databaseAt }]])
}
