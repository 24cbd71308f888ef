import { describe, expect, test } from 'vitest'
import { releasedBy } from '../../../shared/ledger/book/releases.ts'
import { type Product, startProduct } from '../../support/product.ts'
import { createMemoryStore } from '../../support/store/memory-store.ts'

// A client leaves: no change lets a project of its budget be paid by account unless it says so.

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
  ['replaces it without projects', 'PUT', '/budgets/client', put(), ['initech', 'hooli']],
  ['replaces it with a shorter list', 'PUT', '/budgets/client', put([initech]), ['hooli']],
  ['replaces it with a row without its id', 'PUT', '/budgets/client', put([{ name: 'initech' }, hooli]), ['1003']],
  ['renames a project', 'PUT', '/budgets/client', put([{ ...initech, name: 'initech-2' }, hooli]), ['initech']],
  ['prunes it by a file', 'PUT', '/budgets?prune=projects', row([hooli]), ['initech']],
  ['prunes all of it by a file', 'PUT', '/budgets?prune=all', row([]), ['initech', 'hooli']],
] as const

const withRelease = (path: string) => `${path}${path.includes('?') ? '&' : '?'}release=true`

describe('a change that leaves a project without a budget', () => {
  test.each(acts)('a change that %s is refused without release', async (_what, method, path, how, projects) => {
    const product = await start()
    const revision = await revisionOf(product)
    const { status, body } = await product.call(method, path, how)
    expect([status, body.type, body.projects]).toEqual([409, '/problems/wrong-state', projects])
    expect(body.detail).toContain('from then on account pays for')
    expect(body.detail).toContain('release=true (in a file: --release)')
    expect(await revisionOf(product)).toBe(revision)
    expect(await announced(product)).toEqual([])
    const refused = await product.update({ kind: 'ranking', project: 'initech' })
    expect(refused.status).toBe(402)
  })

  test.each(acts)(
    'a change that %s passes with release=true, and is announced',
    async (_what, method, path, how, projects) => {
      const product = await start()
      const { status } = await product.call(method, withRelease(path), how)
      expect([200, 204]).toContain(status)
      expect(await announced(product)).toMatchObject([{ budget: 'client', otherBudgets: 0, projects, more: 0 }])
    },
  )

  test.each([
    ['pay', 'account pays for them'],
    ['approve', 'account pays for them after an approval'],
    ['refuse', 'requests for them are refused until a budget lists them'],
  ])('a release says who pays from then on while account says %s about unlisted projects', async (unowned, payer) => {
    const product = await startProduct({ store: createMemoryStore(), slack: true })
    await product.call('PUT', '/budgets/client', { body: { limits, projects: [initech, hooli] } })
    await product.call('PUT', '/budgets/account', { body: { limits, unowned, approvers: ['eve'] } })
    const refused = await product.call('DELETE', '/budgets/client')
    expect(refused.body.detail).toContain(`no budget would list them: from then on ${payer}. Move them`)
    await product.call('DELETE', '/budgets/client?release=true')
    await product.deliver()
    expect(product.slack.news().map(({ text }) => text)).toEqual([
      `ada took initech and hooli out of the budget client. No budget lists them, and from now on ${payer}.`,
    ])
  })

  // The service reads them as 8203, or as two projects: requests for them are 400 once no budget lists them.
  const odd = [{ name: '08203' }, { name: 'p,q' }]
  test.each([
    ['one', [{ name: '08203' }], 'requests for it are refused until a budget lists it'],
    ['all', odd, 'requests for them are refused until a budget lists them'],
    [
      'some',
      [...odd, hooli],
      'requests for 08203 and p,q are refused until a budget lists them, and account pays for the other',
    ],
    [
      'a few',
      [{ name: '08203' }, initech, hooli],
      'requests for 08203 are refused until a budget lists it, and account pays for the others',
    ],
  ])(
    'a release says that requests are refused where %s of the names may be read as another',
    async (_which, projects, effect) => {
      const product = await startProduct({ store: createMemoryStore(), slack: true })
      await product.call('PUT', '/budgets/client', { body: { limits, projects } })
      const refused = await product.call('DELETE', '/budgets/client')
      expect(refused.body.detail).toContain(`: from then on ${effect}. Move`)
      await product.call('DELETE', '/budgets/client?release=true')
      await product.deliver()
      expect(product.slack.news().map(({ text }) => text)).toEqual([
        expect.stringContaining(`, and from now on ${effect}.`),
      ])
      for (const { name } of projects) {
        const { status } = await product.update({ kind: 'ranking', project: name })
        expect([name, status]).toEqual([name, /^0|,/.test(name) ? 400 : 201])
      }
    },
  )

  test('a difference says that a row lost its id, and not that its project leaves', async () => {
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
  ])('a release names the rule of the same revision: %s, and not %s', async (unowned, before, effect) => {
    const product = await start()
    await product.call('PUT', '/budgets/account', { body: { limits, unowned: before } })
    const body = { budgets: [{ name: 'account', unowned }, ...row([]).body.budgets] }
    for (const path of ['/budgets?prune=projects', '/budgets?prune=projects&dry-run=true']) {
      const refused = await product.call('PUT', path, { body })
      expect(refused.body.detail).toContain(`: from then on ${effect}. Move`)
    }
  })

  test('a change that leaves a project without a budget is refused in a dry run as well', async () => {
    const product = await start()
    const { status } = await product.call('PUT', '/budgets?prune=projects&dry-run=true', row([]))
    expect(status).toBe(409)
  })
})

describe('a change that gives each project another budget', () => {
  test('a change that gives each project another budget needs no release, and is no announcement', async () => {
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

test('a release names its first twenty projects, and counts the rest', async () => {
  const product = await startProduct({ store: createMemoryStore(), stream: false })
  const projects = Array.from({ length: 23 }, (_, at) => ({ name: `p${at}` }))
  await product.call('PUT', '/budgets/a', { body: { limits, projects: projects.slice(0, 12) } })
  await product.call('PUT', '/budgets/b', { body: { limits, projects: projects.slice(12) } })
  const body = { budgets: ['a', 'b'].map((name) => ({ name, projects: [] })) }
  await product.call('PUT', '/budgets?prune=projects&release=true', { body })
  const [about] = await announced(product)
  expect(about).toMatchObject({ budget: 'a', otherBudgets: 1, more: 3 })
  expect(about?.kind === 'released' && about.projects).toHaveLength(20)
})

test('a project leaves where another budget lists its id alone', () => {
  const budget = (name: string, projects: { name: string; id?: string }[]) => ({
    [name]: { name, parent: null, limits: [], projects },
  })
  const before = { budgets: budget('a', [initech]) }
  expect(releasedBy(before, { budgets: budget('b', [initech]) })).toEqual([])
  expect(releasedBy(before, { budgets: budget('b', [{ name: '1003' }]) })).toMatchObject([{ project: initech }])
})
