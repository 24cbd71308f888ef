import { AsyncLocalStorage } from 'node:async_hooks'
import { describe, expect, test } from 'vitest'
import { withStream } from '../../infra/local/memory-stream.ts'
import { createMemoryStore } from '../../shared/ledger/memory-store.ts'
import { keyOf, type Store, type Write } from '../../shared/ledger/store.ts'
import { minutes } from '../support/clock.ts'
import { startProduct } from '../support/product.ts'
import { plain, synthesize } from '../support/stack.ts'

const actions = {
  put: 'dynamodb:PutItem',
  update: 'dynamodb:UpdateItem',
  check: 'dynamodb:ConditionCheckItem',
} as const

/** The product, and what each of its functions writes: which action, under which prefix of a key. */
async function watched() {
  const who = new AsyncLocalStorage<string>()
  const written = new Map<string, Set<string>>()
  const events: unknown[] = []
  const inner = createMemoryStore()
  const note = (write: Write) => {
    const name = who.getStore() ?? 'api'
    const prefix = `${keyOf(write).pk.split('#')[0]}${keyOf(write).pk.includes('#') ? '#' : ''}`
    written.set(name, (written.get(name) ?? new Set()).add(`${actions[write.do]} ${prefix}`))
  }
  const noted: Store = {
    ...inner,
    transact: (writes, ...rest) => {
      for (const write of writes) note(write)
      return inner.transact(writes, ...rest)
    },
  }
  const store = withStream(noted, (event) => events.push(event))
  const product = await startProduct({ store, slack: true, stream: false, units: { dear: 640 } })
  const process = product.startProcess()
  const nextTurn = () => new Promise((resolve) => setImmediate(resolve))
  /** Until the stream tells nothing new. */
  const deliver = async () => {
    for (let quiet = 0; quiet < 5; quiet++) {
      await nextTurn()
      for (let event = events.shift(); event !== undefined; event = events.shift()) {
        quiet = 0
        await who.run('tell', () => process.tell(event, product.endsAt()))
        await who.run('start', () => process.start(event, product.endsAt()))
      }
    }
  }
  return { product, who, deliver, of: (name: string) => [...(written.get(name) ?? [])].toSorted() }
}

/** What a role may write: each action with each prefix that a condition names, or with any. */
function mayWrite(functionName: string): string[] {
  const role = guard.ofType('AWS::IAM::Policy').filter(({ id }) => id.startsWith(`${functionName}Role`))
  return role
    .flatMap(({ Properties }) => plain(Properties.PolicyDocument.Statement))
    .flatMap(({ Action, Condition }) => {
      const keys: string[] = Condition?.['ForAllValues:StringLike']['dynamodb:LeadingKeys'] ?? ['*']
      const writes = [Action].flat().filter((name: string) => Object.values<string>(actions).includes(name))
      return writes.flatMap((name: string) => keys.map((key) => `${name} ${key.replace(/\*$/, '')}`))
    })
    .toSorted()
}

const guard = synthesize()

describe('what a function really writes is what its role may write:', () => {
  test('Slack’s function and the one that tells Slack, exactly; the one that begins updates, everything', async () => {
    const { product, who, deliver, of } = await watched()
    await product.call('PUT', '/callers/slack:U1ADA', {
      body: { scopes: ['read', 'run', 'approve', 'admin'], budgets: '*' },
    })
    const put = (name: string, body: object) => product.call('PUT', `/budgets/${name}`, { body })
    await put('seo', { limits: [{ window: 'month', units: 50 }], approvalAbove: 30 })
    await put('small', { limits: [{ window: 'month', units: 45 }] })
    for (const text of ['', 'updates', 'estimate ranking shop', 'run ranking shop because x', 'freeze seo too dear'])
      await who.run('slack', () => product.slack.command(text))
    await product.update({ kind: 'ranking', project: 'acme', budget: 'seo' })
    // It passes a threshold, and another is too dear for it.
    await product.update({ kind: 'ranking', project: 'globex', budget: 'small' })
    await product.update({ kind: 'ranking', project: 'dear', budget: 'small' })
    await product.call('POST', '/updates', {
      body: { kind: 'ranking', project: 'queued' },
      headers: { prefer: 'respond-async' },
    })
    await deliver()
    product.clock.advance(minutes(3))
    await product.triggers.sweep(product.endsAt())
    await deliver()

    expect(of('slack')).toEqual(mayWrite('SlackApp'))
    expect(of('tell')).toEqual(mayWrite('OutboxTell'))
    // It holds and settles, and a person may change anything through it.
    expect(of('start')).toEqual(expect.arrayContaining(['dynamodb:UpdateItem book', 'dynamodb:PutItem update#']))
    expect(mayWrite('OutboxStart')).toEqual(
      Object.values(actions)
        .map((name) => `${name} `)
        .toSorted(),
    )
  })
})
