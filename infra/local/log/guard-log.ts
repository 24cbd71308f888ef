import { createWriteStream } from 'node:fs'
import { chmod } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod/mini'
import { systemClock } from '../../../shared/platform/clock.ts'
import { parseLenientJson } from '../../../shared/platform/json.ts'
import { createLog, type Log } from '../../../shared/platform/log.ts'
import { makeDirectory, sizeOf } from '../data-directory.ts'
import { onceAMinute } from './error-lines.ts'

export const logFile = 'guard.log'

const maxBytes = 20 * 1024 * 1024

const lineSchema = z.looseObject({
  level: z.string(),
  event: z.string(),
  cause: z.optional(z.looseObject({ name: z.optional(z.string()), message: z.string() })),
  text: z.optional(z.string()),
})
type Line = z.output<typeof lineSchema>

/** Writes the log to a file. The terminal shows errors, and announcements if there is no Slack. */
export async function createGuardLog(directory: string): Promise<{ log: Log; file: string; close(): Promise<void> }> {
  await makeDirectory(directory)
  const file = join(directory, logFile)
  const begin = (flags: 'w' | 'a') => {
    const begun = createWriteStream(file, { flags, mode: 0o600 })
    // `mode` is ignored for an existing file.
    begun.once('open', () => void chmod(file, 0o600).catch(() => {}))
    // A full disk must not stop the guard.
    begun.on('error', (error) => console.error(`unit-guard: ${file}: ${error.message}`))
    return begun
  }
  let stream = begin((await sizeOf(file)) > maxBytes ? 'w' : 'a')
  const write = (text: string) => {
    // A stream ends with its first error, but the disk may have room again.
    if (stream.destroyed) stream = begin('a')
    stream.write(`${text}\n`)
    tell(text)
  }
  const log = createLog({ write: onceAMinute(write, systemClock.now), now: systemClock.now })
  return { log, file, close: () => new Promise((resolve) => stream.end(resolve)) }
}

export const createQuietLog = (): Log =>
  createLog({ write: (text) => tell(text, { isQuiet: true }), now: systemClock.now })

function tell(text: string, { isQuiet = false } = {}): void {
  if (!text.includes('"level":"error"') && !text.includes('"event":"announced"')) return
  // A line that was cut for its length is not JSON.
  const parsed = lineSchema.safeParse(parseLenientJson(text) ?? { level: 'error', event: text.slice(0, 200) })
  if (!parsed.success) return
  const { data } = parsed
  if (data.event === 'announced') console.log(`slack: ${(data.text ?? '').replace(/\s+/g, ' ')}`)
  else if (data.level === 'error' && !(isQuiet && isToldByCommand(data))) tellError(data)
}

/** The command itself says in its last line that the ledger does not answer. */
const isToldByCommand = ({ cause }: Line): boolean => !cause || cause.name === 'LedgerUnavailable'

function tellError({ event, cause, update, secret }: Line): void {
  const about = [update, secret].filter((value) => typeof value === 'string').join(' ')
  console.error(['unit-guard:', event, about, cause && `(${cause.message})`].filter(Boolean).join(' '))
}
