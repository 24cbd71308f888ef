import { describe, expect, test } from 'vitest'
import type { Store, Write } from '../../shared/ledger/store/store.ts'
import { slackEvents } from '../../shared/slack/slack-events.ts'
import { days, hours, minutes } from '../support/clock.ts'
import { json, startProduct } from '../support/product.ts'
import { announced, listPeople, signingSecret, slackSecretOf } from '../support/slack/slack.ts'
import { createMemoryStore } from '../support/store/memory-store.ts'
import { mortal } from '../support/store/mortal-store.ts'

const month = (units: number) => [{ window: 'month', units }]

/** Above 100 units an update of seo needs approval. `dear` costs 640; `doubtful` ends in doubt. */
async function tellingProduct(options: Parameters<typeof startProduct>[0] = {}) {
  const product = await startProduct({ slack: true, store: createMemoryStore(), units: { dear: 640 }, ...options })
  await product.call('PUT', '/budgets/seo', { body: { limits: month(5_000), approvalAbove: 100 } })
  await listPeople(product, { U1ADA: { scopes: ['read', 'run', 'approve', 'admin'] } })
  await product.deliver()
  product.slack.news()
  product.service.script('/on-demand/doubtful/run', { status: 500 })
  const ask = async (project: string) =>
    String((await product.update({ kind: 'ranking', project, budget: 'seo' })).body.updates[0].id)
  const texts = () => product.slack.news().map(({ text }) => text)
  const sweep = async (afterMs = 0, process = { triggers: product.triggers }) => {
    product.clock.advance(afterMs)
    await process.triggers.sweep(product.endsAt())
    return texts()
  }
  const open = async () => (await product.guard.ledger.announcements.open(100)).rows
  return { product, ask, texts, sweep, open }
}

/** The catalogues have the whole sentences. */
const says = (...keys: readonly string[]) => keys.map((key) => expect.stringMatching(new RegExp(`^${key}`)))
const asked = 'ada asks for .*640 units of seo.*by 21 Nov 2026 10:00 UTC'
const inDoubtKey = 'It is not known .*doubtful ran. 40 units stay counted'
const [inDoubt] = says(inDoubtKey)
const doubted = { limit: 5_000, granted: 0, available: 4_960, held: 0, inDoubt: 40, spent: 0 }

describe('each announcement is sent once', () => {
  test('an approval is announced once, with one reminder at half of its time', async () => {
    const { product, ask, texts, sweep } = await tellingProduct()
    await ask('dear')
    await product.deliver()
    expect(texts()).toEqual(says(asked))
    expect(await sweep(hours(12) - 1)).toEqual([])
    product.clock.advance(1)
    for (let round = 0; round < 3; round++) {
      await product.triggers.sweep(product.endsAt())
      await product.deliver()
    }
    expect(texts()).toEqual(says(`Reminder: ${asked}`))
    expect(await sweep(hours(2))).toEqual([])
  })

  test('a doubt is announced once, and its later outcome is a correction', async () => {
    const { product, ask, texts, sweep } = await tellingProduct()
    product.service.script(({ url }) => url.endsWith('/doubtful/dates'), json({ dates: ['2026-11-19'] }))
    const id = await ask('doubtful')
    await product.deliver()
    expect(texts()).toEqual([inDoubt])
    product.clock.advance(minutes(10))
    await product.call('POST', `/updates/${id}/resolve`, { body: { outcome: 'did-not-run', reason: 'not seen' } })
    product.service.script(({ url }) => url.endsWith('/doubtful/dates'), json({ dates: ['2026-11-19', '2026-11-20'] }))
    await sweep(minutes(5))
    await product.deliver()
    expect(product.slack.posted().at(-1)?.text).toMatch(
      /in doubt and is now known: it ran .* 40 units more than before/,
    )
    product.slack.news()
    expect(await sweep(minutes(5))).toEqual([])
    expect(await product.audit()).toBe(true)
  })

  test('an overrun is announced once, and so are the thresholds that it passes', async () => {
    const { product, texts, ask, sweep } = await tellingProduct()
    await product.call('PUT', '/budgets/seo', { body: { limits: month(100) } })
    product.service.script('/on-demand/acme/run', json({ data: { keyword_units: 90 } }))
    await ask('acme')
    await product.deliver()
    expect(texts()).toEqual(
      says('.*acme cost 90 units, 50 more than the 40', 'seo has used 90 % .*90 of 100. 10 are left'),
    )
    expect(await sweep(minutes(5))).toEqual([])
  })

  test('a burst of refusals is announced once an hour', async () => {
    const { product, ask, sweep } = await tellingProduct()
    await product.call('POST', '/budgets/seo/freeze', { body: { reason: 'stop' } })
    for (let times = 0; times < 12; times++) await ask(`p${times}`)
    await product.deliver()
    product.slack.news()
    await sweep()
    await product.deliver()
    expect(product.slack.posted().at(-1)?.text).toMatch(/^Ada was refused 12 times on seo within 10 minutes\./i)
    product.slack.news()
    expect(await sweep(minutes(5))).toHaveLength(0)
  })

  test('a plan’s occurrence and the digest are announced once each', async () => {
    const plans = [{ name: 'nightly', kind: 'ranking', projects: ['acme', 'blog'], schedule: 'cron(0 10 * * ? *)' }]
    const { product, texts } = await tellingProduct({ plans })
    for (let times = 0; times < 2; times++) {
      await product.triggers.fire('nightly', product.clock.now(), product.endsAt())
      await product.deliver()
    }
    expect(texts()).toEqual(says('🗓️ .*nightly of 20 Nov 2026 10:00 UTC is finished. ✅ 2 projects updated. 80 units'))
    for (let times = 0; times < 2; times++) {
      await product.triggers.digest(product.endsAt())
      await product.deliver()
    }
    expect(texts()).toEqual(says('2026-11-20: 80 units spent'))
  })

  test('an approval is not announced if it was given before', async () => {
    const { product, ask, texts, open } = await tellingProduct()
    const id = await ask('dear')
    await product.call('POST', `/updates/${id}/reject`, { token: product.signed({ sub: 'carl', scope: 'approve' }) })
    await product.deliver()
    expect([texts(), await open()]).toEqual([[], []])
  })
})

describe('announcements that Slack rejects', () => {
  test('notify: fails before any effect: after 429 and 500 later sweeps send the announcement at its time, while updates run and no unit moves', async () => {
    const { product, ask, texts, sweep, open } = await tellingProduct()
    await ask('doubtful')
    product.slack.answers(
      { status: 429, headers: { 'retry-after': '30' } },
      { status: 500 },
      { status: 200, body: 'ok' },
    )
    await product.deliver()
    expect(texts()).toEqual([inDoubt])
    const [waits] = await open()
    expect([waits?.tries, (waits?.notBefore ?? 0) - product.clock.now()]).toEqual([1, 30_000])
    expect(await product.figures('seo')).toEqual(doubted)
    // The stream first gets two minutes to announce, with any answer of Slack.
    expect(await sweep(29_999)).toEqual([])
    expect(await sweep(minutes(2))).toEqual([inDoubt])
    expect((await product.update({ kind: 'ranking', project: 'acme', budget: 'seo' })).status).toBe(201)
    expect(await sweep(59_999)).toEqual([])
    expect(await sweep(1)).toEqual([inDoubt])
    expect([await open(), await sweep(hours(1))]).toEqual([[], []])
    expect(product.slack.posted().filter(({ text }) => new RegExp(inDoubtKey).test(text))).toHaveLength(3)
    expect(await product.figures('seo')).toEqual({ ...doubted, available: 4_920, spent: 40 })
    expect(await product.audit()).toBe(true)
  })

  test.each([400, 403, 404, 410, 302])(
    'notify: malformed: %i: the announcement is given up, logged and never repeated, and no unit moves',
    async (status) => {
      const { product, ask, texts, sweep, open } = await tellingProduct()
      await ask('doubtful')
      product.slack.answers({ status, body: 'no_service', headers: { location: 'http://127.0.0.1:9/' } })
      await product.deliver()
      expect([texts().length, await open()]).toEqual([1, []])
      expect(product.logged.filter((line) => line.includes('announcement-lost'))).toHaveLength(1)
      expect(await sweep(hours(1))).toEqual([])
      expect(await product.figures('seo')).toEqual(doubted)
    },
  )

  test('that Slack refuses messages is a trouble until it takes the next one', async () => {
    const { product, ask } = await tellingProduct()
    const troubles = async () => {
      product.clock.advance(minutes(1))
      const { body } = await product.call('GET', '/status')
      return body.troubles.map(({ slug, sentence }: Record<string, string>) => `${slug}: ${sentence}`)
    }
    product.slack.answers({ status: 500 })
    await ask('doubtful')
    await product.deliver()
    expect(await troubles()).toEqual([])
    product.slack.answers({ status: 404, body: 'no_service' })
    product.clock.advance(minutes(3))
    await product.triggers.sweep(product.endsAt())
    await product.deliver()
    expect(await troubles()).toEqual(['slack-refuses: Slack refuses messages (no_service).'])
    product.slack.answers({ status: 200, body: 'ok' })
    await product.call('POST', '/budgets/seo/freeze', { body: { reason: 'a loop' } })
    await product.deliver()
    expect(await troubles()).toEqual([])
  })

  test('waiting announcements are sent in the order of their events', async () => {
    const { product, sweep } = await tellingProduct()
    product.slack.answers({ status: 500 }, { status: 500 }, { status: 200, body: 'ok' })
    await product.call('POST', '/budgets/seo/freeze', { body: { reason: 'a loop' } })
    product.clock.advance(minutes(1))
    await product.call('POST', '/budgets/seo/unfreeze', { body: { reason: 'it ended' } })
    await product.deliver()
    product.slack.news()
    expect((await sweep(minutes(3))).map((text) => text.split('.')[0])).toEqual([
      '🧊 ada froze the budget seo',
      '▶️ ada unfroze the budget seo',
    ])
  })

  test('an announcement is given up after a day of failed attempts', async () => {
    const { product, ask, open } = await tellingProduct()
    await ask('doubtful')
    product.slack.answers({ status: 500 })
    await product.deliver()
    const [waits] = await open()
    if (!waits) throw new Error('nothing waits')
    await product.guard.ledger.announcements.change({ ...waits, tries: 199 }, waits)
    product.clock.advance(minutes(2))
    await product.triggers.sweep(product.endsAt())
    expect(await open()).toEqual([])
    expect(product.logged.join('\n')).toContain('announcement-lost')
  })

  test('a Slack that breaks off, streams endlessly or redirects delays nothing', async () => {
    const { product, ask, texts, sweep, open } = await tellingProduct()
    await ask('doubtful')
    product.slack.answers({ kind: 'reset' }, { kind: 'endless' })
    await product.deliver()
    expect([texts(), (await open()).length]).toEqual([[inDoubt], 1])
    expect(await sweep(minutes(3))).toEqual([inDoubt])
    expect(await open()).toEqual([])
  })

  test('notify: slow: a hanging announcement takes a limited time of a sweep, and plans continue', async () => {
    const { product, sweep } = await tellingProduct({ stream: false })
    const { ledger } = product.guard
    for (let position = 0; position < 10; position++) {
      const about = { kind: 'stopped', what: 'plan', name: 'p', by: 'ada', reason: 'r', isStopped: true } as const
      await ledger.announcements.add({
        id: `a${position}`,
        version: 1,
        createdAt: product.clock.now(),
        tries: 0,
        about,
      })
    }
    const inner = ledger.announcements.get
    // Each reading takes ten seconds of the clock.
    ledger.announcements.get = (id) => {
      product.clock.advance(10_000)
      return inner(id)
    }
    expect(await sweep(minutes(3))).toHaveLength(3)
    // Slack rejects everything now, and the later announcements still get their turn.
    product.slack.answers({ status: 500 })
    for (let sweeps = 0; sweeps < 3; sweeps++) await sweep(minutes(3))
    const { rows } = await ledger.announcements.open(10)
    expect(rows.map(({ id, tries }) => `${id} ${tries}`).sort()).toEqual([
      'a3 2',
      'a4 2',
      'a5 1',
      'a6 1',
      'a7 1',
      'a8 1',
      'a9 1',
    ])
  })

  test('an answer that Slack rejects is requested from the service only a few times', async () => {
    const { product, texts, sweep } = await tellingProduct()
    product.slack.answers({ status: 500 })
    await product.slack.command('run ranking acme budget=seo')
    await product.deliver()
    expect([texts().length, product.seen('estimate').length]).toEqual([1, 1])
    expect(await sweep(minutes(2))).toHaveLength(1)
    await product.deliver()
    expect([texts().length, product.seen('estimate').length]).toEqual([0, 2])
    expect(await sweep(hours(1))).toEqual([])
    expect(product.logged.filter((line) => line.includes('answer-lost'))).toHaveLength(1)
    expect((await product.guard.ledger.queue(slackEvents).open(10)).rows).toEqual([])
  })
})

describe('announcements without a webhook', () => {
  test('messages are logged if there is no webhook', async () => {
    const { product, ask, open } = await tellingProduct()
    product.secrets.values['unit-guard/slack'] = slackSecretOf(undefined)
    product.clock.advance(minutes(6))
    await ask('doubtful')
    await product.deliver()
    expect([product.slack.news(), await open()]).toEqual([[], []])
    const lines = product.logged
      .map((line) => JSON.parse(line))
      .filter((line) => JSON.stringify(line).includes('announced'))
    expect(lines).toHaveLength(1)
    expect(lines[0].text).toEqual(inDoubt)
  })

  test('an announcement waits while the secret is missing', async () => {
    const { product, ask, open, sweep } = await tellingProduct()
    const secret = product.secrets.values['unit-guard/slack']
    product.secrets.values['unit-guard/slack'] = undefined
    const other = product.startProcess()
    await ask('doubtful')
    product.clock.advance(minutes(3))
    await other.triggers.sweep(product.endsAt())
    expect([product.slack.news(), (await open()).length]).toEqual([[], 1])
    expect(await product.figures('seo')).toEqual(doubted)
    product.secrets.values['unit-guard/slack'] = secret
    expect(await sweep(minutes(1), other)).toEqual([inDoubt])
  })
})

describe('dying and simultaneous processes', () => {
  test('notify: process dies between the end of an update and its announcement: the sweep announces it', async () => {
    const { product, ask, sweep } = await tellingProduct({ stream: false })
    await ask('doubtful')
    expect(await sweep(minutes(2) - 1)).toEqual([])
    expect(await sweep(1, product.startProcess())).toEqual([inDoubt])
    expect(await sweep(minutes(5))).toEqual([])
  })

  test('notify: answer lost between sending and marking: announced twice, then never again', async () => {
    const inner = createMemoryStore()
    let isDying = false
    const store: Store = {
      ...inner,
      transact: (writes, token) =>
        isDying && writes.some(isMark) ? Promise.reject(new Error('killed')) : inner.transact(writes, token),
    }
    const { product, ask, texts, sweep } = await tellingProduct({ store })
    await ask('doubtful')
    isDying = true
    await product.deliver()
    expect(texts()).toEqual([inDoubt])
    isDying = false
    expect(await sweep(minutes(2), product.startProcess())).toEqual([inDoubt])
    expect(await sweep(minutes(2))).toEqual([])
  })

  test('two simultaneous processes announce a message at most twice, and mark it once', async () => {
    const { product, ask, open, texts, sweep } = await tellingProduct({ stream: false })
    await ask('doubtful')
    const [waits] = await open()
    await Promise.all([1, 2].map(() => product.startProcess().slack.tell([announced(waits?.id ?? '')])))
    const told = texts()
    expect(told.length).toBeLessThanOrEqual(2)
    expect(new Set(told)).toEqual(new Set([inDoubt]))
    expect([await open(), await sweep(hours(1))]).toEqual([[], []])
  })

  /** From the press of Confirm on, the first process dies at each of its writes in turn. */
  test('the sweeps of another process finish the announcements of a process that dies at any write', async () => {
    const lastWrite = 13
    const ends: Record<string, number> = {}
    for (let killedAt = 1; killedAt <= lastWrite; killedAt++) {
      const { store, kill, heal } = mortal(createMemoryStore())
      const { product, texts, open } = await tellingProduct({ store })
      await product.slack.command('run ranking acme budget=seo')
      await product.deliver()
      const ask = product.slack.buttons()[0]?.value ?? ''
      product.slack.news()
      await product.slack.press('confirm', ask)
      kill(killedAt)
      await product.deliver()
      heal()
      const other = product.startProcess()
      for (let round = 0; round < 6; round++) {
        product.clock.advance(minutes(round < 4 ? 3 : 20))
        await other.triggers.sweep(product.endsAt())
      }
      product.clock.advance(days(7))
      for (let round = 0; round < 2; round++) {
        await other.triggers.sweep(product.endsAt())
        product.clock.advance(minutes(3))
      }
      const { updates } = (await product.call('GET', '/updates')).body
      expect(updates).toHaveLength(1)
      const [{ state, units }] = updates
      const told = texts()
      expect([killedAt, state, told.some((text) => /is done: 40 units charged to seo\./.test(text))]).toEqual([
        killedAt,
        'settled',
        true,
      ])
      expect([killedAt, units.charged, product.seen('run').length <= 1]).toEqual([killedAt, 40, true])
      expect(await product.audit()).toBe(true)
      expect([await open(), (await product.guard.ledger.queue(slackEvents).open(10)).rows]).toEqual([[], []])
      const how = told.some((text) => text.startsWith('It is not known')) ? 'in doubt first' : 'at once'
      ends[how] = (ends[how] ?? 0) + 1
    }
    // Only a death between the fence and the settlement leaves the outcome unknown.
    expect(ends['in doubt first']).toBeGreaterThan(0)
    expect(ends['in doubt first']).toBeLessThan(4)
  })
})

describe('secrets', () => {
  test('the log has no address and no signing secret, with any answer of Slack', async () => {
    const { product, ask } = await tellingProduct()
    const webhook = JSON.parse(product.secrets.values['unit-guard/slack'] ?? '{}').webhookUrl
    product.slack.answers(
      { status: 500, body: `cannot ${webhook}` },
      { kind: 'reset' },
      { status: 404, body: `no ${new URL(webhook).pathname}` },
      { status: 200, body: 'ok' },
    )
    for (const project of ['doubtful', 'dear']) await ask(project)
    await product.slack.command('run ranking acme')
    await product.slack.press('confirm', 'cmd_none')
    await product.deliver()
    product.clock.advance(minutes(5))
    await product.triggers.sweep(product.endsAt())
    await product.deliver()
    const log = product.logged.join('\n')
    expect(log).toContain('slack-try-again')
    expect(log).not.toContain(signingSecret)
    expect(log).not.toMatch(/canary-(webhook|response|service)/)
  })
})

/** The mark that an announcement was sent, which is written after sending. */
const isMark = (write: Write): boolean =>
  write.kind === 'put' && write.item.pk.startsWith('announcement#') && write.item.doneAt !== undefined
