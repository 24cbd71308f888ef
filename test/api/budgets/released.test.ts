import { describe, expect, test } from 'vitest'
import { type Product, startProduct } from '../../support/product.ts'
import { createMemoryStore } from '../../support/store/memory-store.ts'

// No change moves a project from its budget to account unless the request asks for the release.

const limits = [{ window: 'month', units: 500 }]
const initech = { name: 'initech', id: '1003' }
const hooli = { name: 'hooli' }

async function start() {
  const product = await startProduct({ store: createMemoryStore(), stream: false })
  await product.call('PUT', '/budgets/client', { body: { limits, projects: [initech, hooli] } })
  await product.call('PUT', '/budgets/other', { body: { limits } })
  await product.call('POST', '/budgets/client/freeze', { body: { reason: 'the client has left' } })
  return product
}

const revisionOf = async ({ guard }: Product) => (await guard.ledger.view()).definitions.revision

const announced = async ({ guard }: Product) =>
  (await guard.ledger.announcements.open(100)).rows.map(({ about }) => about).filter(({ kind }) => kind === 'released')

const put = (projects?: object[]) => ({ body: { limits, ...(projects && { projects }) } })
const row = (projects: object[]) => ({ body: { budgets: [{ name: 'client', projects }] } })

const acts = [
  ['deletes the budget', 'DELETE', '/budgets/client', {}, ['initech', 'hooli']],
  ['replaces it with a shorter list', 'PUT', '/budgets/client', put([initech]), ['hooli']],
  ['renames a project', 'PUT', '/budgets/client', put([{ ...initech, name: 'initech-2' }, hooli]), ['initech']],
  ['prunes it by a file', 'PUT', '/budgets?prune=projects', row([hooli]), ['initech']],
] as const

const withRelease = (path: string) => `${path}${path.includes('?') ? '&' : '?'}release=true`

describe('a change that leaves a project without a budget', () => {
  test.each(acts)(
    'a change that %s is refused without release, and announced with it',
    async (_what, method, path, how, projects) => {
      const product = await start()
      const revision = await revisionOf(product)
      const { status, body } = await product.call(method, path, how)
      expect([status, body.type, body.projects]).toEqual([409, '/problems/wrong-state', projects])
      expect(body.detail).toContain('from then on account pays for')
      expect(body.detail).toContain('release=true (in a file: --release)')
      expect([await revisionOf(product), await announced(product)]).toEqual([revision, []])
      expect([200, 204]).toContain((await product.call(method, withRelease(path), how)).status)
      expect(await announced(product)).toMatchObject([{ budget: 'client', otherBudgets: 0, projects, more: 0 }])
    },
  )

  test('a release says who pays afterwards, in the refusal and in Slack', async () => {
    const product = await startProduct({ store: createMemoryStore(), slack: true })
    await product.call('PUT', '/budgets/client', { body: { limits, projects: [initech, hooli] } })
    await product.call('PUT', '/budgets/account', { body: { limits, unowned: 'approve', approvers: ['eve'] } })
    const refused = await product.call('DELETE', '/budgets/client')
    const payer = 'account pays for them after an approval'
    expect(refused.body.detail).toContain(`no budget would list them: from then on ${payer}. Move them`)
    await product.call('DELETE', '/budgets/client?release=true')
    await product.deliver()
    expect(product.slack.news().map(({ text }) => text)).toEqual([
      `ada took initech and hooli out of the budget client. No budget lists them, and from now on ${payer}.`,
    ])
  })

  test('the difference says that a row lost its id, not that its project leaves', async () => {
    const product = await startProduct({ store: createMemoryStore(), slack: true })
    await product.call('PUT', '/budgets/client', { body: { limits, projects: [initech] } })
    const shorter = put([{ name: 'initech' }])
    const refused = await product.call('PUT', '/budgets/client', shorter)
    expect(refused.body.detail).toMatch(
      /^This takes 1003 \(the id of initech\) out of client, and no budget would list it: from then on account pays for it\./,
    )
    await product.call('PUT', '/budgets/client?release=true', shorter)
    await product.deliver()
    expect(product.slack.news().map(({ text }) => text)).toEqual([
      'ada took 1003 out of the budget client. No budget lists it, and from now on account pays for it.',
    ])
    const { body } = await product.update({ kind: 'ranking', projects: ['initech', '1003'] })
    expect(body.updates.map(({ budget }: { budget: string }) => budget)).toEqual(['client', 'account'])
  })

  test.each([
    ['refuse', 'pay', 'requests for them are refused until a budget lists them'],
    ['pay', 'refuse', 'account pays for them'],
  ])('a release names the rule that applies after the change: %s instead of %s', async (unowned, before, effect) => {
    const product = await start()
    await product.call('PUT', '/budgets/account', { body: { limits, unowned: before } })
    const body = { budgets: [{ name: 'account', unowned }, ...row([]).body.budgets] }
    for (const path of ['/budgets?prune=projects', '/budgets?prune=projects&dry-run=true']) {
      const refused = await product.call('PUT', path, { body })
      expect(refused.status).toBe(409)
      expect(refused.body.detail).toContain(`: from then on ${effect}. Move`)
    }
  })
})

describe('a change that gives each project another budget', () => {
  test('a change that gives each project another budget needs no release and announces nothing', async () => {
    const product = await start()
    const body = {
      budgets: [
        { name: 'client', projects: [] },
        { name: 'other', projects: [initech, hooli] },
      ],
    }
    const { status } = await product.call('PUT', '/budgets?prune=projects&move=true', { body })
    expect(status).toBe(200)
    expect(await announced(product)).toEqual([])
    expect((await product.call('DELETE', '/budgets/client')).status).toBe(204)
  })

  test.each([
    ['another id in place of the old one', [{ name: 'initech', id: '1004' }, hooli]],
    ['another spelling that means the same', [{ name: 'Initech', id: '1003' }, hooli]],
    ['an id where there was none', [initech, { name: 'hooli', id: '1' }]],
  ])('a change needs no release for %s', async (_what, projects) => {
    const product = await start()
    expect((await product.call('PUT', '/budgets/client', put(projects))).status).toBe(200)
  })
})
