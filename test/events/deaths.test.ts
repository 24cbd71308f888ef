import type { ServerResponse } from 'node:http'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { minutes } from '../support/clock.ts'
import { json, type Product, startProduct } from '../support/product.ts'
import { startReceiver, targetAt } from '../support/receiver.ts'
import { createMemoryStore } from '../support/store/memory-store.ts'
import { withStream } from '../support/store/memory-stream.ts'
import { mortal } from '../support/store/mortal-store.ts'

/** The target's answers, in turn. `isTaken`: the target has the event, although its answer may be lost. */
const answers: readonly { readonly isTaken: boolean; readonly handle: (response: ServerResponse) => void }[] = [
  { isTaken: false, handle: (response) => response.writeHead(503).end() },
  { isTaken: true, handle: (response) => response.end() },
  { isTaken: true, handle: (response) => response.destroy() },
  { isTaken: false, handle: (response) => response.writeHead(404).end() },
]

const failingOnce = () => {
  const statuses = [500]
  return {
    service: ({ url }: { url: string }) => (url.includes('/run') ? json({}, statuses.shift() ?? 200) : undefined),
  }
}

/** A person resolves one update in doubt, one is approved and runs, and one is refused. A budget is changed and frozen. */
async function play(product: Product): Promise<void> {
  const update = { kind: 'ranking', project: 'acme' }
  const doubted = (await product.update(update)).body.updates[0].id
  await product.call('POST', `/updates/${doubted}/resolve`, { body: { outcome: 'ran', reason: 'invoice' } })
  const limits = [{ window: 'month', units: 50 }]
  await product.call('PUT', '/budgets/seo', { body: { limits, approvalAbove: 10 } })
  const asked = (await product.update({ ...update, project: 'shop', budget: 'seo' })).body.updates[0].id
  const headers = {
    authorization: `Bearer ${await product.signed({ sub: 'ben', scope: 'approve', exp: product.inDays(1) })}`,
  }
  await product.call('POST', `/updates/${asked}/approve`, { headers, body: {} })
  await product.startProcess().services.guard.start(asked, product.endsAt())
  await product.update({ ...update, project: 'tea', budget: 'seo', maxUnits: 1 })
  await product.call('POST', '/budgets/seo/freeze', { body: { reason: 'a loop' } })
}

/** The expected events from the records alone: each line of a history and each change of the budget. */
async function expected({ guard }: Product): Promise<string[]> {
  const { rows } = await guard.ledger.updates({}, 100)
  const ofUpdates = rows.flatMap(({ id, history }) =>
    history.map(({ state }, index) => `${id}-${index + 1} unit-guard.update.${state}`),
  )
  return [...ofUpdates, 'budget unit-guard.budget.changed', 'budget unit-guard.budget.frozen'].toSorted()
}

describe('each transition at the target, with one id', () => {
  test.each([0, 1, 2, 3])(
    'the target gets each transition with one id, although targets fail and processes die before write %i of a batch',
    async (writes) => {
      const stream: unknown[] = []
      const { store, kill, heal } = mortal(withStream(createMemoryStore(), (event) => void stream.push(event)))
      const taken: { readonly id: string; readonly type: string }[] = []
      let isWell = false
      const receiver = await startReceiver((response, { event }) => {
        const answer = isWell ? answers[1] : answers[receiver.received.length % answers.length]
        if (answer?.isTaken) taken.push(event)
        answer?.handle(response)
      })
      const targets = [targetAt(receiver.url, { types: ['update.*', 'budget.changed', 'budget.frozen'] })]
      const product = await startProduct({ store, stream: false, targets, ...failingOnce() })
      await play(product)
      const told = async () => {
        await nextTurn()
        return stream.splice(0)
      }
      for (const event of await told()) {
        kill(writes)
        const dead = product.startProcess()
        const first = await dead.tell(event, product.endsAt()).catch(() => null)
        heal()
        // The stream repeats a failed batch.
        if (first === null || first.batchItemFailures.length > 0) {
          const again = await product.startProcess().tell(event, product.endsAt())
          expect(again.batchItemFailures).toEqual([])
        }
      }
      for (let sweeps = 0; sweeps < 8; sweeps++) {
        product.clock.advance(minutes(16))
        if (sweeps === 0 || sweeps === 2) kill(writes)
        if (sweeps === 4) isWell = true
        await product
          .startProcess()
          .triggers.handle({ task: 'sweep' }, product.endsAt())
          .catch(() => {})
        heal()
      }
      const types = new Map(taken.map(({ id, type }) => [id, type]))
      for (const { id, type } of taken) expect(types.get(id)).toBe(type)
      const names = [...types].map(([id, type]) => `${String(id).startsWith('evt_') ? 'budget' : id} ${type}`)
      expect(names.toSorted()).toEqual(await expected(product))
      const open = await store.list({ index: 'open', partition: 'delivery#warehouse', newestFirst: false, limit: 100 })
      expect(open.positions).toEqual([])
    },
  )
})
