import type { Hono } from 'hono'
import * as z from 'zod/mini'
import { pageCursor, pageLimit } from '../../../shared/api/schemas.ts'
import { showProjectChange } from '../../../shared/api/to-json.ts'
import type { Services } from '../../../shared/guard/services.ts'
import { type ApiEnv, mustHave } from '../context.ts'
import { readQuery } from '../input.ts'
import { route } from '../route.ts'

export const pageQuery = z.strictObject({ limit: pageLimit, cursor: z.exactOptional(pageCursor) })

/** `GET /changes`: projects created and changed through the gateway. */
export function addChanges(app: Hono<ApiEnv>, { guard }: Services): void {
  route(app, '/changes', {
    GET: async (c) => {
      await mustHave(c, 'read')
      const { limit, cursor } = readQuery(c, pageQuery)
      const { rows, next } = await guard.ledger.projectChanges(limit, cursor)
      return c.json({ changes: rows.map(showProjectChange), ...(next !== undefined && { next }) })
    },
  })
}
