/** The database did not answer, or refused; nothing was changed by this request. */
export class LedgerUnavailable extends Error {
  override readonly name: string = 'LedgerUnavailable'
}

/** The database answers, but others changed the same items until the time was over; nothing was changed by this request. */
export class Contention extends LedgerUnavailable {
  override readonly name = 'Contention'
}

/** DynamoDB takes at most 400 KB an item. Nothing was changed, and no repetition changes that. */
export class ItemTooLarge extends LedgerUnavailable {
  override readonly name = 'ItemTooLarge'
}

/** The answer to a transaction was lost, and again when it was repeated: it may have been applied. Read it back. */
export class AnswerLost extends LedgerUnavailable {
  override readonly name = 'AnswerLost'
}

/** The table holds no definitions: nothing is allowed. */
export class NoDefinitions extends Error {
  override readonly name = 'NoDefinitions'
}

/** A cursor that no list of ours has given out. */
export class BadCursor extends Error {
  override readonly name = 'BadCursor'
}
