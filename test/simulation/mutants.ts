import type { Mutant } from './mutant.ts'
import { guardMutants } from './mutants-guard.ts'
import { ledgerMutants } from './mutants-ledger.ts'

export const mutants: readonly Mutant[] = [...guardMutants, ...ledgerMutants]
