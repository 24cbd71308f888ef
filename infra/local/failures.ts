/** An error that the user can repair. The terminal shows only its message, without a stack. */
export class CannotContinue extends Error {
  override readonly name = 'CannotContinue'
}

export function hintFor(reason: string): string {
  if (reason.includes('ECONNREFUSED')) return '. Is npm start running? After a restart, source its env file again.'
  return /load credentials/.test(reason) ? ' Log in to AWS (AWS_PROFILE), or start Unit Guard here (npm start).' : ''
}

export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0])
  if (!(error instanceof Error)) return String(error)
  if (error.cause !== undefined) return reasonOf(error.cause)
  return error.message.trim() === '' ? error.name : error.message
}
