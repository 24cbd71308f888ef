import type { Mutant } from './mutant.ts'
import { guardMutants } from './mutants-guard.ts'
import { ledgerMutants } from './mutants-ledger.ts'
import { raceMutants } from './mutants-races.ts'

export const mutants: readonly Mutant[] = [...raceMutants, ...guardMutants, ...ledgerMutants]
