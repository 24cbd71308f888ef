import { LedgerUnavailable } from '../../shared/ledger/errors.ts'

/** What a process may end with when its parts fail; whatever else it throws is a bug. */
export const isExpected = (error: unknown): boolean => error instanceof LedgerUnavailable
