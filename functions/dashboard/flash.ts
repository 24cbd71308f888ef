import { deflateRawSync, inflateRawSync } from 'node:zlib'
import type { Context } from 'hono'
import * as z from 'zod/mini'
import type { FaceEnv } from '../../shared/api/face.ts'
import { minuteMs } from '../../shared/platform/clock.ts'
import type { Cookies } from './cookies.ts'
import type { Session, Sessions } from './session-cookie.ts'

/** What came of a form, for the page that is shown after it. */
export interface Flash {
  readonly done: readonly string[]
  readonly failed: readonly string[]
  /** What the user had filled in, where nothing was done: it is there to be put right, and not typed again. */
  readonly typed?: FormValues
}

export type FormValues = Readonly<Record<string, string>>

const said = z.object({
  done: z.array(z.string()),
  failed: z.array(z.string()),
  typed: z.exactOptional(z.record(z.string(), z.string())),
})

const lastsMs = minuteMs
/** Browsers keep cookies of up to 4,096 bytes, name and attributes included. */
const longest = 3_000
const maxSentences = 100
/** A project of 512 characters, and what became of it; in any script one of them fits into the cookie. */
const maxSentenceLength = 700

export type FlashCookie = ReturnType<typeof createFlash>

/** Carried over in a signed cookie, and shown once: an address would keep it, and could be made up by others. */
export function createFlash({ sessions, cookies }: { sessions: Sessions; cookies: Cookies }) {
  async function keep(c: Context<FaceEnv>, session: Session, all: Flash): Promise<void> {
    const text = toText(all)
    cookies.write(c, 'unit-guard-said', `${text}.${await sessions.sign(session, 'said', text)}`, lastsMs)
  }

  async function take(c: Context<FaceEnv>, session: Session): Promise<Flash | null> {
    const [text = '', signature = ''] = (cookies.read(c, 'unit-guard-said') ?? '').split('.')
    if (text === '') return null
    cookies.remove(c, 'unit-guard-said')
    if (!(await sessions.isSigned(signature, session, 'said', text))) return null
    const parsed = said.safeParse(fromText(text))
    return parsed.success ? parsed.data : null
  }

  return { keep, take }
}

/**
 * As many sentences as there is room for: they are much alike, so compressing them makes room for a hundred. What was
 * typed goes along where it leaves room for all of them.
 */
function toText({ done, failed, typed }: Flash, most = maxSentences): string {
  const told = { done: shortened(done, most), failed: shortened(failed, most), typed }
  const text = deflateRawSync(JSON.stringify(told)).toString('base64url')
  if (text.length <= longest || most === 0) return text
  return toText({ done, failed }, typed ? most : Math.floor(most * 0.8))
}

/** Only what we have signed comes here. */
const fromText = (text: string): unknown => JSON.parse(inflateRawSync(Buffer.from(text, 'base64url')).toString())

function shortened(sentences: readonly string[], most: number): readonly string[] {
  const shown = sentences.slice(0, most).map(cut)
  const more = sentences.length - shown.length
  return more > 0 ? [...shown, `And ${more} more.`] : shown
}

const cut = (sentence: string) =>
  sentence.length <= maxSentenceLength ? sentence : `${sentence.slice(0, maxSentenceLength - 1).toWellFormed()}…`
