import type { Ledger } from '../../ledger/ledger.ts'
import type { Log } from '../../platform/log.ts'
import type { Sight } from './sight.ts'

/** Items that sum up several budgets, so that a reader of some budgets gets other functions than the kind has. */
export interface NarrowedKind<Functions extends object> {
  readonly kind: { readonly name: string }
  /** @returns the functions that the reader may call. */
  narrow(functions: Functions, reader: NarrowedLedger): Partial<Functions>
}

export interface NarrowedLedger {
  /** Has only the budgets of the reader. */
  readonly ledger: Ledger
  readonly log: Log
  sight(): Promise<Sight>
}
