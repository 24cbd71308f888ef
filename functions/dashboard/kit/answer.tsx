import type { Context } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import type { FaceEnv } from '../../../shared/api/accept-requests.ts'
import { describe } from '../../../shared/guard/problem-types.ts'
import { undecidedRetryAfter } from '../../../shared/guard/problems.ts'
import type { Problem } from '../../../shared/ledger/updates/update.ts'
import { shortMonths } from '../../../shared/platform/clock.ts'
import { hiddenCharacters } from '../../../shared/platform/words.ts'
import { type Frame, Page, type PageProps } from './layout.tsx'

/** Forbids scripts, content from other sites, and frames around the page. */
const policy =
  "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

export function setHeaders(c: Context<FaceEnv>): void {
  c.header('Content-Security-Policy', policy)
  c.header('X-Content-Type-Options', 'nosniff')
  c.header('Referrer-Policy', 'no-referrer')
  c.header('Cache-Control', 'no-store')
}

export function show(
  c: Context<FaceEnv>,
  props: PageProps,
  status: ContentfulStatusCode,
): Response | Promise<Response> {
  return c.html(keepTogether(`<!doctype html>${<Page {...props} />}`), status)
}

export function showProblem(c: Context<FaceEnv>, { slug, detail }: Problem, frame?: Frame) {
  const { status, title } = describe(slug)
  if (slug === 'undecided') c.header('Retry-After', String(undecidedRetryAfter))
  const content = (
    <>
      <p>{detail}</p>
      <p>
        <a href="/">To the overview</a>
      </p>
      <p class="note">
        Request <code>{c.var.requestId}</code>
      </p>
    </>
  )
  return show(c, { title, ...(frame && { frame }), children: content }, status as ContentfulStatusCode)
}

/** Matches dates and amounts in the text between tags, never inside a tag. */
const dateOrAmount = new RegExp(
  String.raw`(?:\b\d{1,2} (?:${shortMonths.join('|')})(?: \d{4})?(?: \d\d:\d\d)?|\d (?:units?\b|%))(?=[^<>]*<)`,
  'g',
)
/** Users copy text from these elements, so their spaces stay plain. */
const copiedElements = /(<(?:pre|select|textarea)\b.*?<\/(?:pre|select|textarea)>)/s

export const keepTogether = (html: string): string =>
  html
    .split(copiedElements)
    .map((part, index) =>
      index % 2 === 1 ? part : showHidden(part.replace(dateOrAmount, (match) => match.replaceAll(' ', '\u00a0'))),
    )
    .join('')

/** Old names may hold characters that change the direction of text, so pages show codes in their place. Fields keep the characters. */
const showHidden = (html: string): string =>
  html.replace(textBetweenTags, (text) => text.replace(hiddenCharacters, markOf))
const textBetweenTags = /(?<=>)[^<>]+/g
const markOf = (character: string) =>
  `[U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}]`
