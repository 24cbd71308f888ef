import { Hono } from 'hono'
import { handle } from 'hono/aws-lambda'

/** The least that a function behind a URL loads. */
export const handler = handle(new Hono().get('/', (c) => c.text('ok')))
