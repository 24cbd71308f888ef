/** The database did not answer or refused; this request changed nothing. */
export class LedgerUnavailable extends Error {
  override readonly name: string = 'LedgerUnavailable'
}

/** Others changed the same items until the time was over; this request changed nothing. */
export class Contention extends LedgerUnavailable {
  override readonly name = 'Contention'
}

/** DynamoDB takes at most 400 KB an item. No retry helps; nothing was changed. */
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
