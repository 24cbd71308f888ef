import { readFile } from 'node:fs/promises'

/** An error that the user can repair. The terminal shows only its message, without a stack. */
export class CannotContinue extends Error {
  override readonly name = 'CannotContinue'
}

export function hintFor(reason: string): string {
  if (reason.includes('ECONNREFUSED')) return '. Is Unit Guard running? After a restart, source its env file again.'
  return /load credentials/.test(reason) ? ' Log in to AWS (AWS_PROFILE), or start Unit Guard here.' : ''
}

const fileFaults: Readonly<Record<string, string>> = {
  ENOENT: 'it is not there',
  EISDIR: 'it is a folder',
  EEXIST: 'it is a file',
  ENOTDIR: 'a part of its path is a file',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'its disk is read-only',
  ENOSPC: 'its disk is full',
}

export const fileFault = (error: unknown): string =>
  fileFaults[error instanceof Error && 'code' in error ? String(error.code) : ''] ?? reasonOf(error)

export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0])
  if (!(error instanceof Error)) return String(error)
  if (error.cause !== undefined) return reasonOf(error.cause)
  return error.message.trim() === '' ? error.name : error.message
}

/** Reads a file that an option names. @throws CannotContinue */
export const readGiven = (file: string): Promise<Buffer> =>
  readFile(file).catch((cause) => {
    throw new CannotContinue(`${file} cannot be read: ${fileFault(cause)}`, { cause })
  })
