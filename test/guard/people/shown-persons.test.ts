import { expect, test } from 'vitest'
import { openBrowser } from '../../support/browser/browser.ts'
import { createTestClock, minutes } from '../../support/clock.ts'
import { startProvider } from '../../support/provider.ts'
import { month, startTalk } from '../../support/slack/talk.ts'
import { createMemoryStore } from '../../support/store/memory-store.ts'

// Every page and message of a month whose callers are persons of an issuer.

const plans = [
  { name: 'nightly', kind: 'ranking', projects: ['news', 'blog'], schedule: 'cron(0 10 * * ? *)' },
  { name: 'weekly', kind: 'ranking', projects: ['tea'], schedule: 'cron(0 11 * * ? *)' },
]
/** Mira and Dora are listed with their names; the other names come from claims. */
const subjects = { mira: '00u1mira', dora: '00u2dora', tomas: '00u3tomas', ines: '00u4ines' }
const names: Partial<Record<Name, string>> = { ines: 'ines<b>*<!here>' }

type Name = keyof typeof subjects

async function startPersons({ bot }: { bot?: true }) {
  const clock = createTestClock()
  const provider = await startProvider({ clock })
  const issuers = [provider.entry({ person: 'name', budgets: ['account'] })]
  const people = {
    U1ADA: { scopes: ['read', 'run', 'approve', 'admin'] },
    U2DORA: { scopes: ['read'], person: 'dora' },
  }
  const budgets = {
    acme: { limits: month(300), projects: ['shop', 'news', 'blog'].map((name) => ({ name })), thresholds: [10] },
    cold: { limits: month(300), projects: [{ name: 'ice' }] },
    strict: {
      limits: month(1_000),
      projects: [{ name: 'tea' }, { name: 'cup' }, { name: 'pot' }, { name: 'tin' }],
      approvalAbove: 0,
    },
  }
  const talk = await startTalk(
    { budgets, people },
    { clock, issuers, plans, store: createMemoryStore(), ...(bot && { bot }), units: { huge: 400 } },
  )
  const as = async (name: Name, method: string, path: string, body?: object) =>
    talk.product.call(method, path, {
      token: provider.sign({ sub: subjects[name], name: names[name] ?? name, groups: ['leads'] }),
      ...(body && { body }),
      ...(method === 'POST' && path === '/updates' && { headers: { 'idempotency-key': `key-${++keys}` } }),
    })
  let keys = 0
  const ask = async (name: Name, project: string, more: object = {}) => {
    const { body } = await as(name, 'POST', '/updates', { kind: 'ranking', project, reason: 'for the report', ...more })
    await talk.news()
    return String(body.updates?.[0]?.id ?? body.update)
  }
  for (const name of ['mira', 'dora'] as const)
    await talk.product.call('PUT', `/callers/okta:${subjects[name]}`, {
      body: { person: name, limits: [{ window: 'day', units: name === 'dora' ? 100 : 1_000 }] },
    })
  return { ...talk, as, ask, clock }
}

type Persons = Awaited<ReturnType<typeof startPersons>>

/** Each kind of record, entry and announcement that names a caller. */
async function playMonth({ product, as, ask, news, sweep, type, press, clock }: Persons): Promise<readonly string[]> {
  const changed = async (...call: Parameters<typeof as>) => {
    const { status, text } = await as(...call)
    expect([call[2], status < 300 ? 'done' : text]).toEqual([call[2], 'done'])
    await news()
  }
  const fire = (plan: string, time: string) =>
    product.triggers.handle({ plan, time: `2026-11-20T${time}:00Z` } as never, product.endsAt())
  const ids: string[] = []
  const asked = async (...of: Parameters<typeof ask>) => ids[ids.push(await ask(...of)) - 1] ?? ''
  await asked('tomas', 'shop')
  await asked('dora', 'news')
  await asked('mira', 'huge', { budget: 'account' })
  for (let times = 0; times < 12; times++) await ask('dora', 'shop')
  await changed('mira', 'POST', '/budgets/cold/freeze', { reason: 'no one uses it' })
  await asked('ines', 'ice')
  await changed('dora', 'POST', '/plans/nightly/pause', { reason: 'holidays' })
  await fire('nightly', '10:00')
  await as('mira', 'POST', '/plans/nightly/run', { time: '2026-11-20T10:00:00Z' })
  await fire('weekly', '11:00')
  const [tea, cup, pot, tin, last] = [
    await asked('ines', 'cup'),
    await asked('dora', 'pot'),
    await asked('tomas', 'tin'),
    await asked('mira', 'kettle', { budget: 'strict' }),
    await asked('ines', 'jar', { budget: 'strict' }),
  ]
  await changed('mira', 'POST', `/updates/${tea}/approve`)
  await changed('tomas', 'POST', `/updates/${cup}/approve`)
  for (const id of [tea, cup]) await press('approve', id)
  await changed('mira', 'POST', `/updates/${pot}/reject`, { reason: 'not now' })
  await changed('mira', 'POST', `/updates/${tin}/cancel`)
  await press('reject', pot)
  await press('reject', tin)
  await as('dora', 'POST', `/updates/${last}/cancel`)
  product.service.script('/on-demand/moon/run', { kind: 'reset' })
  product.service.script('/on-demand/sun/run', { kind: 'reset' })
  const [moon, sun] = [await asked('ines', 'moon'), await asked('tomas', 'sun')]
  await changed('mira', 'POST', `/updates/${moon}/resolve`, { outcome: 'ran', reason: 'seen on the screen' })
  await press('resolve-ran', moon)
  expect(sun).toMatch(/^upd_/)
  await changed('mira', 'POST', '/budgets/acme/entries', { type: 'grant', units: 5, reason: 'for the launch' })
  await changed('dora', 'POST', '/budgets/acme/entries', { type: 'external-spend', units: 250, reason: 'by hand' })
  await changed('mira', 'PUT', '/budgets/acme?release=true', { limits: month(300), projects: [], reason: 'moves' })
  await changed('mira', 'PUT', `/callers/okta:${subjects.dora}`, { person: 'dora', perUpdate: 10 })
  await asked('dora', 'vase', { budget: 'account' })
  const mira = `okta:${subjects.mira}`
  await product.guard.disableCaller(`okta:${subjects.dora}`, { caller: mira, reason: 'on leave', disabled: true })
  await (await product.guard.jobs()).audit(mira)
  await sweep(minutes(20))
  for (const text of ['', 'updates', 'acme', 'unfreeze cold now', 'resume nightly now', 'freeze cold again'])
    await type(text)
  for (const id of ids) await type(`show ${id}`)
  await sweep(minutes(24 * 60))
  await product.slack.event({ type: 'app_home_opened', user: 'U1ADA', tab: 'home' })
  await news()
  clock.advance(1_000)
  return ids
}

const maxPages = 400
/** Pages that list callers or all names of a person, and downloads. */
const ownPages = /^\/dashboard\/(callers|people\/)|\.csv|^\/docs|^\/problems|^\/openapi/

/** Follows all links from the overview. */
async function pageTexts({ product }: Persons): Promise<ReadonlyMap<string, string>> {
  const browser = openBrowser(product)
  await browser.logIn(product.signed({ sub: 'ada', scope: 'read run propose write approve admin', budgets: '*' }))
  const found = new Map<string, string>()
  const open = ['/']
  for (let path = open.shift(); path !== undefined && found.size < maxPages; path = open.shift()) {
    if (found.has(path) || ownPages.test(path)) continue
    const { status, html, text } = await browser.get(path)
    found.set(path, status === 200 ? text : '')
    const links = [...html.matchAll(/href="(\/[^"#]*)/g)].map(([, to = '']) => to.replaceAll('&amp;', '&'))
    open.push(...links.filter((to) => to === '/' || to.startsWith('/dashboard')))
  }
  return found
}

test.each([
  ['a webhook', {}],
  ['a bot token', { bot: true }],
] as const)(
  'no page and no message shows a raw subject of a person with a name: %s',
  { timeout: 110_000 },
  async (_, how) => {
    const persons = await startPersons(how)
    const ids = await playMonth(persons)
    const { slack } = persons.product
    const messages = JSON.stringify([slack.posted(), slack.recorder?.messages, [...(slack.recorder?.homes ?? [])]])
    expect(messages.match(/.{0,90}00u\d.{0,60}/g) ?? []).toEqual([])
    for (const name of ['`tomas`', '`ines&lt;b&gt;*&lt;!here&gt;`']) expect(messages).toContain(name)
    expect(messages).not.toContain('<!here>')
    const pages = await pageTexts(persons)
    for (const id of ids) expect([id, pages.has(`/dashboard/updates/${id}`)]).toEqual([id, true])
    const raw = [...pages].flatMap(([path, text]) =>
      [...text.matchAll(/.{0,60}00u\d.{0,40}/g)].map(([part]) => `${path}: ${part}`),
    )
    expect(raw).toEqual([])
    expect([...pages.values()].some((text) => text.includes('ines<b>*<!here>'))).toBe(true)
  },
)
