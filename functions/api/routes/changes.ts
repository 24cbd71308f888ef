import type { Hono } from 'hono'
import * as z from 'zod/mini'
import { pageCursor, pageLimit } from '../../../shared/api/schemas.ts'
import { showProjectChange } from '../../../shared/api/to-json.ts'
import { type ApiEnv, mustHave } from '../context.ts'
import { readQuery } from '../input.ts'
import type { Operation } from '../operation.ts'
import { route } from '../route.ts'

const pageQuerySchema = z.lazy(() => z.strictObject({ limit: pageLimit, cursor: z.exactOptional(pageCursor) }))

export function addChanges(app: Hono<ApiEnv>): void {
  route(app, '/changes', {
    GET: async (c) => {
      const { guard } = await mustHave(c, 'read')
      const { limit, cursor } = readQuery(c, pageQuerySchema)
      const { rows, next } = await guard.ledger.projectChanges(limit, cursor)
      return c.json({ changes: rows.map(showProjectChange), ...(next !== undefined && { next }) })
    },
  })
}

export const changeOperations: readonly Operation[] = [
  {
    ...{ method: 'GET', path: '/changes', id: 'listChanges', scopes: ['read'] },
    summary: 'Lists the projects that were created or updated through the gateway',
    query: { schema: pageQuerySchema },
    answers: { 200: { description: 'A page of them, newest first', body: 'ChangeList' } },
    problems: [],
  },
]
