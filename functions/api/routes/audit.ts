import type { Hono } from 'hono'
import { mustReadAll } from '../../../shared/api/permissions.ts'
import { showAudit, showRestored } from '../../../shared/api/to-json.ts'
import type { Services } from '../../../shared/guard/services.ts'
import { type ApiEnv, mustHave } from '../context.ts'
import type { Operation } from '../operation.ts'
import { route } from '../route.ts'

export function addAudit(app: Hono<ApiEnv>, { guard }: Services): void {
  route(app, '/audit', {
    GET: async (c) => {
      mustReadAll(await mustHave(c, 'read'))
      const reads = c.get('expensiveReads')
      reads.admit(c.get('caller').sub)
      const audited = showAudit(await reads.audit(guard.ledger.audit))
      const { identity } = (await guard.ledger.view()).definitions
      return c.json({ ...audited, ...showRestored(identity) })
    },
  })
}

export const auditOperations: readonly Operation[] = [
  {
    ...{ method: 'GET', path: '/audit', id: 'audit', scopes: ['read'] },
    summary: 'Audits the ledger: compares every counter of the books with the sum of its lines',
    answers: { 200: { description: 'Each counter, twice', body: 'Audit' } },
    problems: [],
  },
]
