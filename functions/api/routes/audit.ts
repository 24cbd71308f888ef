import type { Hono } from 'hono'
import * as z from 'zod/mini'
import { mustReadAll } from '../../../shared/api/permissions.ts'
import { pageCursor, pageLimit } from '../../../shared/api/schemas.ts'
import { defined, type Shown } from '../../../shared/api/shown.ts'
import { showAudit, showProjectChange } from '../../../shared/api/to-json.ts'
import type { Services } from '../../../shared/services/services.ts'
import { type ApiEnv, mustHave } from '../context.ts'
import { readQuery } from '../input.ts'
import type { Operation } from '../operation.ts'
import { route } from '../route.ts'

const pageQuerySchema = z.lazy(() => z.strictObject({ limit: pageLimit, cursor: z.exactOptional(pageCursor) }))

export function addAudit(app: Hono<ApiEnv>, { guard }: Services): void {
  route(app, '/audit', {
    GET: async (c) => {
      mustReadAll(await mustHave(c, 'read'))
      const reads = c.get('expensiveReads')
      reads.admit(c.get('caller').sub)
      const rows = await reads.audit(guard.ledger.audit)
      const { identity } = (await guard.ledger.view()).definitions
      return c.json(showAudit(rows, identity))
    },
  })

  route(app, '/changes', {
    GET: async (c) => {
      const { guard } = await mustHave(c, 'read')
      const { limit, cursor } = readQuery(c, pageQuerySchema)
      const { rows, next } = await guard.ledger.projectChanges(limit, cursor)
      return c.json(defined<Shown<'ChangeList'>>({ changes: rows.map(showProjectChange), next }))
    },
  })
}

export const auditOperations: readonly Operation[] = [
  {
    method: 'GET',
    path: '/audit',
    id: 'getAudit',
    scopes: ['read'],
    summary: 'Audits the ledger: compares every counter of the books with the sum of its lines',
    answers: { 200: { description: 'Each counter as recorded and as recomputed', body: 'Audit' } },
    problems: [],
  },
  {
    method: 'GET',
    path: '/changes',
    id: 'listChanges',
    scopes: ['read'],
    summary: 'Lists the projects that were created or updated through the gateway',
    query: { schema: pageQuerySchema },
    answers: { 200: { description: 'A page of changes, newest first', body: 'ChangeList' } },
    problems: [],
  },
]
