/** Something that the user who started it can put right. The message says what, in one line, without a stack. */
export class CannotContinue extends Error {
  override readonly name = 'CannotContinue'
}

/** What may help after a sentence about something on this machine that does not answer; it begins with a blank. */
export const hintFor = (reason: string): string =>
  reason.includes('ECONNREFUSED') ? '. Is npm start running? After a restart, source its env file again.' : ''

/** The innermost cause in a few words: what broke, not everything that it broke. */
export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0])
  if (!(error instanceof Error)) return String(error)
  if (error.cause !== undefined) return reasonOf(error.cause)
  return error.message.trim() === '' ? error.name : error.message
}
