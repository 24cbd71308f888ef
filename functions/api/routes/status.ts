import type { Hono } from 'hono'
import { mustReadAll } from '../../../shared/api/permissions.ts'
import { defined, type Shown } from '../../../shared/api/shown.ts'
import { showRestored, timeOrNull } from '../../../shared/api/to-json.ts'
import { version } from '../../../shared/platform/version.ts'
import type { Services } from '../../../shared/services/services.ts'
import { type ApiEnv, mustHave } from '../context.ts'
import type { Operation } from '../operation.ts'
import { answerProblem, route } from '../route.ts'

const maxCounted = 1_000

export function addStatus(app: Hono<ApiEnv>, { guard, troubles }: Services): void {
  const { ledger } = guard
  route(app, '/status', {
    GET: async (c) => {
      mustReadAll(await mustHave(c, 'read'))
      const [{ machine, found }, requested, awaitingApproval, inDoubt] = await Promise.all([
        troubles.look(),
        ledger.countOpen('requested', maxCounted),
        ledger.countOpen('awaiting-approval', maxCounted),
        ledger.countOpen('in-doubt', maxCounted),
      ])
      const shown = defined<Shown<'Status'>>({
        version,
        troubles: found.map(({ slug, since, sentence, remedy }) => ({
          slug,
          since: timeOrNull(since),
          sentence,
          remedy,
        })),
        sweptAt: timeOrNull(machine.sweptAt),
        backedUpAt: timeOrNull(machine.backedUpAt),
        waiting: { requested, awaitingApproval, inDoubt },
        setAside: machine.setAside,
        restored: showRestored(ledger.lastSeen()?.definitions.identity),
      })
      return c.json(shown)
    },
  })
}

/** These need no token, and show no figure of the ledger. */
export function addHealth(app: Hono<ApiEnv>, { troubles }: Services): void {
  route(app, '/health', { GET: (c) => c.json({ status: 'ok' }) })
  route(app, '/ready', {
    GET: async (c) => {
      const why = await troubles.whyNotReady()
      return why === null ? c.json({ status: 'ready' }) : answerProblem(c, why)
    },
  })
}

export const statusOperations: readonly Operation[] = [
  {
    method: 'GET',
    path: '/health',
    id: 'getHealth',
    scopes: null,
    summary: 'Says that the function answers; touches neither the service nor the ledger',
    answers: { 200: { description: 'The function answers', body: 'Health' } },
    problems: [],
  },
  {
    method: 'GET',
    path: '/status',
    id: 'getStatus',
    scopes: ['read'],
    summary:
      'Returns the guard’s version, troubles and state: its last sweep and backup, waiting updates, changes set aside',
    details:
      'On AWS, `sweptAt`, `backedUpAt` and `setAside` are `null`. Metrics and alarms show these facts instead, and `troubles` lacks what only they know.',
    answers: {
      200: { description: 'The state, for a monitor that compares the times with its clock', body: 'Status' },
    },
    problems: [],
  },
  {
    method: 'GET',
    path: '/ready',
    id: 'getReadiness',
    scopes: null,
    summary: 'Says whether this process can read the ledger and its secrets, write its disk, and trust its clock',
    details:
      'It looks at most once in ten seconds. A refused token of the service or a frozen account is no reason to send callers to another process.',
    answers: { 200: { description: 'The process can do its work', body: 'Ready' } },
    problems: ['ledger-unavailable', 'secret-unavailable', 'wrong-clock'],
  },
]
