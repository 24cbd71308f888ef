import { describe, expect, test } from 'vitest'
import type { Answer } from '../../shared/guard/answer.ts'
import { definitionsKey } from '../../shared/ledger/definitions-item.ts'
import { nameOf } from '../../shared/ledger/store.ts'
import { only, startGuard } from '../support/guard.ts'

const saying = ({ status, problem }: Answer) => [status, problem?.slug, problem?.detail]

describe('one project, however it is spelled', () => {
  test.each([' ACME', 'acme\u00a0', 'Ａｃｍｅ', '\u200bacme', 'P-77', 'p-77'])(
    'is charged to its owner and obeys its freeze: %j',
    async (project) => {
      const guard = await startGuard()
      await guard.budget('seo', { projects: [{ name: 'Acme', id: 'p-77' }] })
      expect(only(await guard.ask({ projects: [project], kind: 'keyword-difficulty' }))).toMatchObject({
        budget: 'seo',
      })
      const frozen = await startGuard()
      const stop = { reason: 'too dear', by: 'ada', at: 1 }
      await frozen.budget('seo', { projects: [{ name: 'Acme', id: 'p-77' }], frozen: stop })
      expect((await frozen.ask({ projects: [project] })).problem?.slug).toBe('budget-frozen')
      expect(frozen.sent).toEqual([])
    },
  )

  test('is refused where one request names it twice, by another spelling or by its id', async () => {
    const guard = await startGuard()
    await guard.budget('seo', { projects: [{ name: 'Acme', id: 'p-77' }] })
    expect(saying(await guard.ask({ projects: ['acme', 'other', 'P-77'] }))).toEqual([
      400,
      'invalid-request',
      'acme and P-77 are the same project; name it once.',
    ])
    expect(saying(await guard.ask({ projects: ['shop', 'Shop'] }))).toEqual([
      400,
      'invalid-request',
      'shop and Shop are the same project; name it once.',
    ])
    expect([guard.sent, (await guard.guard.ledger.updates({}, 10)).rows]).toEqual([[], []])
  })

  test('is refused while definitions of an older version list it twice, until one listing is removed', async () => {
    const guard = await startGuard()
    await guard.budget('seo', { projects: [{ name: 'acme' }] })
    await guard.budget('blog', { projects: [] })
    const name = nameOf(definitionsKey)
    const item = guard.items.get(name)
    const stored = JSON.parse(JSON.stringify(item))
    stored.budgets.blog.projects = [{ name: 'Acme' }]
    guard.items.set(name, stored)
    const detail =
      'acme stands for Acme of blog and for acme of seo; an administrator has to remove one of them from its budget.'
    expect(saying(await guard.ask({ projects: ['acme'] }))).toEqual([400, 'invalid-request', detail])
    const queued = await guard.ask({ projects: ['other'] }, {}, { respondAsync: true })
    expect(queued.status).toBe(202)
    // Other changes are still possible, and the one that repairs it.
    expect((await guard.budget('seo', { perUpdate: 500 as never })).kind).toBe('changed')
    expect((await guard.budget('blog', { projects: [] })).kind).toBe('changed')
    expect(only(await guard.ask({ projects: ['acme'] }))).toMatchObject({ state: 'settled', budget: 'seo' })
  })

  test('is refused for what waits in the queue when its name begins to collide', async () => {
    const guard = await startGuard()
    await guard.budget('seo', { projects: [{ name: 'acme' }] })
    await guard.budget('blog', { projects: [] })
    const queued = only(await guard.ask({ projects: ['acme'] }, {}, { respondAsync: true }))
    const name = nameOf(definitionsKey)
    const stored = JSON.parse(JSON.stringify(guard.items.get(name)))
    stored.budgets.blog.projects = [{ name: 'ACME' }]
    guard.items.set(name, stored)
    const update = await guard.guard.start(queued.id, guard.clock.now() + 60_000)
    expect(update).toMatchObject({ state: 'refused', problem: { slug: 'invalid-request' } })
    expect(guard.sent).toEqual([])
  })
})
