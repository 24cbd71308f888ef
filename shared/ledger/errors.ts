/** The database did not answer or refused; nothing was changed. */
export class LedgerUnavailable extends Error {
  override readonly name: string = 'LedgerUnavailable'
}

/** For `catch`: the value where the database does not answer. */
export const ifUnavailable =
  <T>(value: T) =>
  (error: unknown): T => {
    if (error instanceof LedgerUnavailable) return value
    throw error
  }

/** Others kept changing the same items; nothing was changed. */
export class Contention extends LedgerUnavailable {
  override readonly name = 'Contention'
}

/** An item above DynamoDB's 400 KB. No retry helps; nothing was changed. */
export class ItemTooLarge extends LedgerUnavailable {
  override readonly name = 'ItemTooLarge'
}

/** A transaction may have been applied: read it back. */
export class AnswerLost extends LedgerUnavailable {
  override readonly name = 'AnswerLost'
}

/** Without definitions nothing is allowed. */
export class NoDefinitions extends Error {
  override readonly name = 'NoDefinitions'
}

export class BadCursor extends Error {
  override readonly name = 'BadCursor'
}
