import type { Hono } from 'hono'
import { html } from 'hono/html'
import { problem, problems } from '../../shared/guard/problems.ts'
import type { ApiEnv } from './context.ts'
import { answerProblem } from './problem-answers.ts'
import { route } from './routing.ts'

/** `type` of every problem is the address of a page that a person can read (RFC 9457, section 3.1.1). */
export function addProblemPages(app: Hono<ApiEnv>): void {
  for (const [slug, { status, title }] of Object.entries(problems)) {
    route(app, `/problems/${slug}`, {
      GET: (c) =>
        c.html(html`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>${title} – Unit Guard</title>
<h1>${title}</h1>
<p>Problem type <code>${slug}</code>, answered with status ${status}.</p>
<p>The member <code>detail</code> of the answer says in one sentence, with the numbers, what happened and what would pass.</p>
</html>`),
    })
  }
  app.get('/problems/*', (c) => answerProblem(c, problem('not-found', 'There is no such problem type.')))
}
