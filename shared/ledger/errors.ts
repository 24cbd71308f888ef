/** What is wrong with the disk of a ledger in a file. */
export type DiskFault = 'full' | 'read-only' | 'failing'

/** The database did not answer, or refused. Nothing was changed, except perhaps after `AnswerLost`. */
export class LedgerUnavailable extends Error {
  override readonly name: string = 'LedgerUnavailable'
  /** `null`: the disk is not known to be the cause. */
  readonly disk: DiskFault | null

  constructor(message: string, { disk = null, ...options }: ErrorOptions & { disk?: DiskFault | null } = {}) {
    super(message, options)
    this.disk = disk
  }
}

/** A stored item cannot be read, or fails its check. No retry helps. */
export class DamagedItem extends Error {
  override readonly name = 'DamagedItem'
  readonly key: { readonly pk: string; readonly sk: string }

  constructor(
    { pk, sk }: { readonly pk: string; readonly sk: string },
    readonly fault: string,
  ) {
    super(`the stored item ${pk} (${sk}) is damaged: ${fault}`)
    this.key = { pk, sk }
  }
}

/** For `catch`: returns `value` if the ledger could not be read, and throws any other error again. */
export const ifUnavailable =
  <T>(value: T) =>
  (error: unknown): T => {
    if (error instanceof LedgerUnavailable || error instanceof DamagedItem) return value
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
