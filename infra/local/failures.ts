/** Something that whoever started it can put right. The message says what, in one line, without a stack. */
export class CannotGoOn extends Error {
  override readonly name = 'CannotGoOn'
}

/** The innermost cause in a few words: what broke, not everything that it broke. */
export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0])
  if (!(error instanceof Error)) return String(error)
  if (error.cause !== undefined) return reasonOf(error.cause)
  return error.message.trim() === '' ? error.name : error.message
}
