import { LedgerUnavailable } from '../../shared/ledger/errors.ts'

/** How a process may end when its parts fail; every other error is a bug. */
export const isExpected = (error: unknown): boolean => error instanceof LedgerUnavailable
