import { deflateRawSync, inflateRawSync } from 'node:zlib'
import type { Context } from 'hono'
import * as z from 'zod/mini'
import type { FaceEnv } from '../../shared/api/accept-requests.ts'
import { minuteMs } from '../../shared/platform/clock.ts'
import type { Cookies, Session, Sessions } from './cookies.ts'

export interface Flash {
  readonly done: readonly string[]
  readonly failed: readonly string[]
  /** The user's input, if nothing was done. */
  readonly input?: FormValues
  readonly faults?: FieldFaults
}

export type FieldFaults = Readonly<Record<string, string>>

export type FormValues = Readonly<Record<string, string>>

const flashSchema = z.object({
  done: z.array(z.string()),
  failed: z.array(z.string()),
  input: z.exactOptional(z.record(z.string(), z.string())),
  faults: z.exactOptional(z.record(z.string(), z.string())),
})

const lastsMs = minuteMs
/** Browsers keep cookies of up to 4,096 bytes. */
const maxTextLength = 3_000
const maxSentences = 100
/** Enough for a project's name of 512 characters and an outcome. */
const maxSentenceLength = 700

/** A cookie holds the flash, because a flash in the address could be forged and would appear again on reload. */
export function createFlash({ sessions, cookies }: { sessions: Sessions; cookies: Cookies }) {
  async function write(c: Context<FaceEnv>, session: Session, flash: Flash): Promise<void> {
    const text = toText(flash)
    cookies.write(c, 'unit-guard-said', `${text}.${await sessions.sign(session, 'said', text)}`, lastsMs)
  }

  async function take(c: Context<FaceEnv>, session: Session): Promise<Flash | null> {
    const [text = '', signature = ''] = (cookies.read(c, 'unit-guard-said') ?? '').split('.')
    if (text === '') return null
    cookies.remove(c, 'unit-guard-said')
    if (!(await sessions.isSigned(signature, session, 'said', text))) return null
    const parsed = flashSchema.safeParse(fromText(text))
    return parsed.success ? parsed.data : null
  }

  return { write, take }
}

/** If the flash is too long, drops the input first, then sentences. */
function toText({ done, failed, input, faults }: Flash, maxCount = maxSentences): string {
  const content = { done: shorten(done, maxCount), failed: shorten(failed, maxCount), input, faults }
  const text = deflateRawSync(JSON.stringify(content)).toString('base64url')
  if (text.length <= maxTextLength || maxCount === 0) return text
  return toText({ done, failed }, input ? maxCount : Math.floor(maxCount * 0.8))
}

/** Throws on malformed texts, so only signed texts may be passed. */
const fromText = (text: string): unknown => JSON.parse(inflateRawSync(Buffer.from(text, 'base64url')).toString())

function shorten(sentences: readonly string[], maxCount: number): readonly string[] {
  const first = sentences.slice(0, maxCount).map(cut)
  const more = sentences.length - first.length
  return more > 0 ? [...first, `And ${more} more.`] : first
}

const cut = (sentence: string) =>
  sentence.length <= maxSentenceLength ? sentence : `${sentence.slice(0, maxSentenceLength - 1).toWellFormed()}…`
