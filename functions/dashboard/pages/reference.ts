import { documentHeaders, type Reference } from '../../../shared/api/reference.ts'
import { Refusal } from '../../../shared/api/refusal.ts'
import { problems } from '../../../shared/guard/problem-types.ts'
import { problem } from '../../../shared/guard/problems.ts'
import type { PageRoutes } from '../kit/session.tsx'

const cacheHeaders = { 'cache-control': 'public, max-age=300' }
const pageHeaders = { ...cacheHeaders, 'content-type': 'text/html; charset=UTF-8' }
const stylesheetHeaders = { ...cacheHeaders, 'content-type': 'text/css; charset=UTF-8' }

export function addReference({ publicPage }: PageRoutes, reference: Reference): void {
  /** @throws Refusal 404 */
  async function read(name: string): Promise<string> {
    const text = await reference(name)
    if (text === null) throw new Refusal(problem('not-found', 'There is no such page.'))
    return text
  }

  publicPage('/openapi.json', { GET: async (c) => c.body(await read('openapi.json'), 200, documentHeaders) })
  publicPage('/docs', { GET: async (c) => c.body(await read('docs.html'), 200, pageHeaders) })
  publicPage('/docs.css', { GET: async (c) => c.body(await read('docs.css'), 200, stylesheetHeaders) })
  publicPage('/problems/*', {
    GET: async (c) => {
      const slug = c.req.path.slice('/problems/'.length)
      if (Object.hasOwn(problems, slug)) return c.body(await read(`problems/${slug}.html`), 200, pageHeaders)
      throw new Refusal(problem('not-found', 'There is no such problem type.'))
    },
  })
}
