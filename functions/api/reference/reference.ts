import type { Context, Hono } from 'hono'
import { problem, problems } from '../../../shared/guard/problems.ts'
import type { ApiEnv } from '../context.ts'
import { answerProblem } from '../problem-answers.ts'
import { route } from '../routing.ts'

/**
 * What is to be read about the API, made when it is built (infra/reference) and fetched when somebody asks:
 * `openapi.json`, `docs.html`, `docs.css`, `problems/<slug>.html`. `null`: there is nothing of that name.
 */
export type Reference = (name: string) => Promise<string | null>

const page = {
  'content-type': 'text/html; charset=UTF-8',
  'content-security-policy':
    "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
}
const stylesheet = { 'content-type': 'text/css; charset=UTF-8', 'x-content-type-options': 'nosniff' }
const document = { 'content-type': 'application/json', 'x-content-type-options': 'nosniff' }

/** The OpenAPI document, the page that shows it, and one page for each type of problem (RFC 9457, section 3.1.1). */
export function addReference(app: Hono<ApiEnv>, reference: Reference): void {
  async function answer(c: Context<ApiEnv>, name: string, headers: Record<string, string>): Promise<Response> {
    const text = await reference(name)
    if (text !== null) return c.body(text, 200, { ...headers, 'cache-control': 'public, max-age=300' })
    return answerProblem(c, problem('not-found', 'There is no such page.'))
  }

  route(app, '/openapi.json', { GET: (c) => answer(c, 'openapi.json', document) })
  route(app, '/docs', { GET: (c) => answer(c, 'docs.html', page) })
  route(app, '/docs.css', { GET: (c) => answer(c, 'docs.css', stylesheet) })
  route(app, '/problems/*', {
    GET: (c) => {
      const slug = c.req.path.slice('/problems/'.length)
      if (Object.hasOwn(problems, slug)) return answer(c, `problems/${slug}.html`, page)
      return answerProblem(c, problem('not-found', 'There is no such problem type.'))
    },
  })
}
