import { expect, test } from 'vitest'
import { startProduct } from '../../support/product.ts'

async function start() {
  const product = await startProduct({ stream: true })
  const by = (sub: string) => product.signed({ sub, scope: 'run', budgets: '*' })
  const queue = async (project: string, sub = 'bob') => {
    const how = { token: by(sub), headers: { prefer: 'respond-async' } }
    return String((await product.update({ kind: 'ranking', project }, how)).body.updates[0].id)
  }
  const cancel = (sub: string, body: object) => product.call('POST', '/updates/cancel', { token: by(sub), body })
  return { ...product, queue, cancel }
}

test('POST /updates/cancel cancels many updates and gives the reason for each that stays', async () => {
  const { queue, cancel, call, seen, deliver } = await start()
  const [one, two] = [await queue('a'), await queue('b')]
  const other = await queue('c', 'carol')
  const { status, body } = await cancel('bob', { ids: [one, other, 'upd_none', two], reason: 'a loop' })
  expect(status).toBe(200)
  expect(body.updates.map(({ id, state }: { id: string; state: string }) => [id, state])).toEqual([
    [one, 'cancelled'],
    [two, 'cancelled'],
  ])
  expect(body.notCancelled).toEqual([
    { id: other, detail: `carol asked for the ranking update of c; only they or an administrator may cancel it.` },
    { id: 'upd_none', detail: 'There is no update upd_none.' },
  ])
  expect((await call('GET', `/updates/${one}`)).body.history.at(-1)).toMatchObject({ by: 'bob', note: 'a loop' })
  await deliver()
  expect(seen('run').map(({ url }) => url)).toEqual(['/v3/on-demand/c/run'])
})

test('an administrator cancels the updates of other callers, and gets the problem if none can be cancelled', async () => {
  const { queue, call, cancel } = await start()
  const id = await queue('a')
  expect((await cancel('eve', { ids: [id] })).status).toBe(403)
  expect((await call('POST', '/updates/cancel', { body: { ids: [id] } })).body.updates).toHaveLength(1)
  expect((await call('POST', '/updates/cancel', { body: { ids: [id] } })).status).toBe(409)
})
