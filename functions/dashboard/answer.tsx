import type { Context } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import type { FaceEnv } from '../../shared/api/face.ts'
import { describe, undecidedRetryAfter } from '../../shared/guard/problems.ts'
import type { Problem } from '../../shared/ledger/updates/update.ts'
import { type Frame, Page, type PageProps } from './components/layout.tsx'
import { unbroken } from './unbroken.ts'

/** Nothing comes from elsewhere, nothing is sent elsewhere, nothing runs, and no other site shows it in a frame. */
const policy =
  "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

/** What every page is sent with. */
export function dress(c: Context<FaceEnv>): void {
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
  return c.html(unbroken(`<!doctype html>${<Page {...props} />}`), status)
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
