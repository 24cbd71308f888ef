import { createLedger, type Ledger } from './ledger.ts'
import { ledgerPartsOf } from './ledger-parts.ts'

export const openLedger = (...how: Parameters<typeof ledgerPartsOf>): Ledger => createLedger(ledgerPartsOf(...how))
