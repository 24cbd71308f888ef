import { LedgerUnavailable } from '../../shared/ledger/errors.ts'

/** The error of a process whose parts fail. Every other error is a bug. */
export const isExpected = (error: unknown): boolean => error instanceof LedgerUnavailable
