import { deflateRawSync, inflateRawSync } from 'node:zlib'
import type { Context } from 'hono'
import * as z from 'zod/mini'
import type { FaceEnv } from '../../shared/api/face.ts'
import { minuteMs } from '../../shared/platform/clock.ts'
import type { Cookies, Session, Sessions } from './cookies.ts'

/** The outcome of a form, shown on the next page. */
export interface Flash {
  readonly done: readonly string[]
  readonly failed: readonly string[]
  /** What the user typed, if nothing was done, so that they can correct it. */
  readonly typed?: FormValues
}

export type FormValues = Readonly<Record<string, string>>

const said = z.object({
  done: z.array(z.string()),
  failed: z.array(z.string()),
  typed: z.exactOptional(z.record(z.string(), z.string())),
})

const lastsMs = minuteMs
/** Browsers keep cookies of up to 4,096 bytes, including name and attributes. */
const maxTextLength = 3_000
const maxSentences = 100
/** Holds a project of 512 characters and its outcome; one such sentence fits the cookie in any script. */
const maxSentenceLength = 700

export type FlashCookie = ReturnType<typeof createFlash>

/** Carries it in a signed cookie, shown once: an address would keep it, and others could forge it. */
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

/** As many sentences as fit: they are alike, so a hundred do when compressed. `typed` is left out first. */
function toText({ done, failed, typed }: Flash, most = maxSentences): string {
  const told = { done: shortened(done, most), failed: shortened(failed, most), typed }
  const text = deflateRawSync(JSON.stringify(told)).toString('base64url')
  if (text.length <= maxTextLength || most === 0) return text
  return toText({ done, failed }, typed ? most : Math.floor(most * 0.8))
}

/** The text is signed by us, so it parses. */
const fromText = (text: string): unknown => JSON.parse(inflateRawSync(Buffer.from(text, 'base64url')).toString())

function shortened(sentences: readonly string[], most: number): readonly string[] {
  const shown = sentences.slice(0, most).map(cut)
  const more = sentences.length - shown.length
  return more > 0 ? [...shown, `And ${more} more.`] : shown
}

const cut = (sentence: string) =>
  sentence.length <= maxSentenceLength ? sentence : `${sentence.slice(0, maxSentenceLength - 1).toWellFormed()}…`
