import type { Context } from 'hono'
import * as z from 'zod/mini'
import type { ApiEnv } from '../context.ts'
import type { Cookies } from './cookies.ts'
import type { Session, Sessions } from './sessions.ts'

/** What came of a form, for the page that is shown after it. */
export interface Said {
  readonly done: readonly string[]
  readonly failed: readonly string[]
}

const said = z.object({ done: z.array(z.string()), failed: z.array(z.string()) })

const lastsMs = 60_000
/** Browsers keep cookies of up to 4,096 bytes, name and attributes included. */
const longest = 3_000
const mostSentences = 5
const longestSentence = 300

/** Carried over in a signed cookie, and shown once: an address would keep it, and could be made up by others. */
export function createSaid({ sessions, cookies }: { sessions: Sessions; cookies: Cookies }) {
  async function keep(c: Context<ApiEnv>, session: Session, { done, failed }: Said): Promise<void> {
    const text = toText({ done: shortened(done), failed: shortened(failed) })
    cookies.write(c, 'unit-guard-said', `${text}.${await sessions.sign(session, 'said', text)}`, lastsMs)
  }

  async function take(c: Context<ApiEnv>, session: Session): Promise<Said | null> {
    const [text = '', signature = ''] = (cookies.read(c, 'unit-guard-said') ?? '').split('.')
    if (text === '') return null
    cookies.remove(c, 'unit-guard-said')
    if (!(await sessions.isSigned(signature, session, 'said', text))) return null
    const parsed = said.safeParse(JSON.parse(Buffer.from(text, 'base64url').toString()))
    return parsed.success ? parsed.data : null
  }

  return { keep, take }
}

function toText(all: Said): string {
  const text = Buffer.from(JSON.stringify(all)).toString('base64url')
  if (text.length <= longest || all.failed.length === 0) return text
  return toText({ ...all, failed: all.failed.slice(0, -1) })
}

function shortened(sentences: readonly string[]): readonly string[] {
  const shown = sentences.slice(0, mostSentences).map((each) => each.slice(0, longestSentence).toWellFormed())
  const more = sentences.length - shown.length
  return more > 0 ? [...shown, `And ${more} more.`] : shown
}
