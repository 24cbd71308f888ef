/** The database did not answer, or refused. Nothing was changed, except perhaps after `AnswerLost`. */
export class LedgerUnavailable extends Error {
  override readonly name: string = 'LedgerUnavailable'
}

/** For `catch`: returns `value` if the database is unavailable, and throws any other error again. */
export const ifUnavailable =
  <T>(value: T) =>
  (error: unknown): T => {
    if (error instanceof LedgerUnavailable) return value
    throw error
  }

/** Other transactions kept changing the same items. This transaction changed nothing. */
export class Contention extends LedgerUnavailable {
  override readonly name = 'Contention'
}

/** An item exceeds DynamoDB's 400 KB. Nothing was changed, and no retry helps. */
export class ItemTooLarge extends LedgerUnavailable {
  override readonly name = 'ItemTooLarge'
}

/** The answer to a transaction was lost. Read its items to see whether it was applied. */
export class AnswerLost extends LedgerUnavailable {
  override readonly name = 'AnswerLost'
}

/** The ledger has no definitions, so nothing is allowed. */
export class NoDefinitions extends Error {
  override readonly name = 'NoDefinitions'
}

export class BadCursor extends Error {
  override readonly name = 'BadCursor'
}
