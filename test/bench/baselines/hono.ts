import { Hono } from 'hono'
import { handle } from 'hono/aws-lambda'

/** The minimum for a function behind a URL. */
export const handler = handle(new Hono().get('/', (c) => c.text('ok')))
