import type { Hono } from 'hono'
import { mustReadAll } from '../../../shared/api/permissions.ts'
import type { Services } from '../../../shared/guard/services.ts'
import { toRfc3339 } from '../../../shared/platform/clock.ts'
import { type ApiEnv, mustHave } from '../context.ts'
import type { Operation } from '../operation.ts'
import { route } from '../route.ts'

/** Facts that only a machine with the ledger in a file knows. */
export interface MachineFacts {
  readonly sweptAt: number | null
  readonly backedUpAt: number | null
  /** The number of changes that no process could handle. */
  readonly setAside: number | null
}

export const unknownFacts: MachineFacts = { sweptAt: null, backedUpAt: null, setAside: null }

const maxCounted = 1_000

export function addStatus(app: Hono<ApiEnv>, { guard }: Services, factsOf: () => Promise<MachineFacts>): void {
  const { ledger } = guard
  route(app, '/status', {
    GET: async (c) => {
      mustReadAll(await mustHave(c, 'read'))
      const [facts, requested, awaitingApproval, inDoubt] = await Promise.all([
        factsOf(),
        ledger.countOpen('requested', maxCounted),
        ledger.countOpen('awaiting-approval', maxCounted),
        ledger.countOpen('in-doubt', maxCounted),
      ])
      return c.json({
        sweptAt: instantOf(facts.sweptAt),
        backedUpAt: instantOf(facts.backedUpAt),
        waiting: { requested, awaitingApproval, inDoubt },
        setAside: facts.setAside,
      })
    },
  })
}

const instantOf = (at: number | null): string | null => (at === null ? null : toRfc3339(at))

export const statusOperations: readonly Operation[] = [
  {
    ...{ method: 'GET', path: '/status', id: 'status', scopes: ['read'] },
    summary: 'Returns the guard’s state: its last sweep and backup, waiting updates, and changes that were set aside',
    details: 'On AWS, `sweptAt`, `backedUpAt` and `setAside` are `null`. Metrics and alarms show these facts instead.',
    answers: {
      200: { description: 'The state, for a monitor that compares the times with its clock', body: 'Status' },
    },
    problems: [],
  },
]
