import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { describe, expect, inject, test } from 'vitest'
import { createGuard, type Guard } from '../../../shared/guard/guard.ts'
import type { Asker } from '../../../shared/guard/update/request.ts'
import { createLedger } from '../../../shared/ledger/ledger.ts'
import { createDynamoStore } from '../../../shared/ledger/store/dynamo-store.ts'
import { systemClock } from '../../../shared/platform/clock.ts'
import { systemIds } from '../../../shared/platform/ids.ts'
import { inLogContext, notedCounts } from '../../../shared/platform/log.ts'
import { toUnits } from '../../../shared/platform/words.ts'
import { ran } from '../../support/guard.ts'
import { createItemLocks, keyNamesOf } from '../../support/store/item-locks.ts'
import { createLocalTable } from '../../support/store/stores.ts'

function lockItems(client: DynamoDBClient): { conflicts: number } {
  const locks = createItemLocks(10)
  const keysIn = new WeakMap<object, readonly string[]>()
  client.middlewareStack.add(
    (next, context) => (args) => {
      keysIn.set(context, keyNamesOf(args.input))
      return next(args)
    },
    { step: 'initialize', name: 'keys' },
  )
  client.middlewareStack.add(
    (next, context) => async (args) => {
      let answer: Awaited<ReturnType<typeof next>> | undefined
      const conflicts = await locks.hold(keysIn.get(context) ?? [], async () => {
        answer = await next(args)
      })
      if (answer) return answer
      throw Object.assign(new Error('cancelled'), {
        name: 'TransactionCanceledException',
        CancellationReasons: conflicts?.map((Code) => ({ Code })),
      })
    },
    { step: 'finalizeRequest', name: 'locks', priority: 'low' },
  )
  return locks.seen
}

/** Guards that share only a table, like separate processes. */
async function startGuards(count: number) {
  const { client, table } = await createLocalTable()
  const seen = lockItems(client)
  let runs = 0
  const guards: Guard[] = []
  for (let index = 0; index < count; index++) {
    const ledger = createLedger({
      store: createDynamoStore({ client, table, clock: systemClock, ids: systemIds }),
      clock: systemClock,
      account: {
        unitsPerMonth: toUnits(100_000),
        usedAtStart: toUnits(0),
        renewal: { day: 1, time: '00:00', zone: 'UTC' },
      },
    })
    await ledger.view()
    const guard = createGuard({
      ledger,
      tracking: {
        estimate: async () => ({ kind: 'units', units: toUnits(40), source: 'units' }),
        dates: async () => ({ kind: 'dates', dates: [] }),
        run: async () => {
          runs++
          return ran
        },
        projects: async () => [],
        readingOf: () => ({ pointer: undefined }),
        open: () => Promise.reject(new Error('nothing is opened here')),
      },
      clock: systemClock,
      serviceToken: async () => 'the-token',
      plans: async () => [],
      ids: systemIds,
      log: { info: () => {}, error: () => {}, hide: () => {} },
      options: {
        serviceTimeoutMs: 20_000,
        serviceFlightMs: 300_000,
        cooldown: { ranking: 'day', 'keyword-difficulty': 0 },
      },
    })
    guards.push(guard)
  }
  const asker: Asker = {
    caller: 'bob',
    via: 'http',
    route: 'POST /updates',
    token: { scopes: new Set(['run']), budgets: '*' },
  }
  const ask = (index: number, project: string) =>
    guards[index]?.submit(
      asker,
      { kind: 'ranking', projects: [project], whenShort: 'refuse' },
      { respondAsync: false, endsAt: systemClock.now() + 120_000 },
    )
  return { guards, ask, seen, runs: () => runs }
}

describe.runIf(inject('dynamodb') !== null)('one book', () => {
  test('twenty simultaneous processes take turns, and all finish', async () => {
    const count = 20
    const { guards, ask, seen, runs } = await startGuards(count)
    let counted = 0
    const answers = await Promise.all(
      guards.map((_guard, index) =>
        inLogContext({}, async () => {
          const answer = await ask(index, `project-${index}`)
          counted += Number(notedCounts().Conflicts ?? 0)
          return answer
        }),
      ),
    )
    const found: Record<string, number> = {}
    for (const answer of answers) {
      const outcome = `${answer?.status} ${answer?.problem?.slug ?? answer?.updates[0]?.state}`
      found[outcome] = (found[outcome] ?? 0) + 1
    }
    expect(found).toEqual({ '201 settled': count })
    expect(seen.conflicts).toBeGreaterThan(count)
    // A hold that finds a changed book counts as a conflict, too.
    expect(counted).toBeGreaterThanOrEqual(seen.conflicts)
    expect(runs()).toBe(count)
    expect(await guards[0]?.ledger.audit()).toMatchObject([{ ok: true }, { ok: true }])
  })
})
