import { describe, expect, test } from 'vitest'
import { count } from '../../shared/guard/sentences.ts'
import { createAskedOnce } from '../api/reads/asked-once.ts'
import { type Clients, startClients, telling } from '../api/reads/clients.ts'
import { type Names, pageProbesOf } from '../api/reads/page-probes.ts'
import { openBrowser, type Shown } from '../support/browser/browser.ts'
import { minutes } from '../support/clock.ts'

// Every page for a user who reads one of two clients.

const namesOf = ({ other }: Clients): readonly [others: Names, unknown: Names] => [
  {
    budget: 'zenith',
    project: 'zed-store',
    caller: 'zoe',
    plan: 'zulu',
    id: '7777',
    update: other.waiting,
    entry: other.entries[0] ?? '',
    cursor: cursorOf(other.waiting),
  },
  {
    budget: 'other-s',
    project: 'no-store',
    caller: 'nix',
    plan: 'none',
    id: '4040',
    update: 'upd_0000000000000000000000000a',
    entry: 'ent_0000000000000000000000000a',
    cursor: cursorOf('upd_0000000000000000000000000a'),
  },
]

const cursorOf = (id: string) =>
  Buffer.from(JSON.stringify(['2026-11', `update#${id}`, 'update', '2026-11-20T09:00:00.000Z'])).toString('base64url')

const none = namesOf({ other: { waiting: '', entries: [''] } } as unknown as Clients)[1]

const everythingOf = ({ status, headers, html }: Shown): string => {
  const cursors = [...html.matchAll(/cursor=([\w-]+)/g)].map(([, cursor = '']) =>
    Buffer.from(cursor, 'base64url').toString(),
  )
  return JSON.stringify([status, [...headers], html, cursors])
}

/** Replaces the other client's names with the unknown ones, because a page repeats its query. */
function asUnknown(text: string, [others, unknown]: readonly [Names, Names]): string {
  const renamed = Object.entries(others).reduce(
    (all, [name, value]) => all.replaceAll(value, unknown[name as keyof Names]),
    text,
  )
  return renamed
    .replace(/"(set-cookie|x-request-id|content-length)","[^"]*"/g, '')
    .replace(/<code>[0-9a-z]{26}<\/code>/g, '')
    .replace(/page-[0-9a-z]{26}/g, '')
    .replace(/name=\\"form\\" value=\\"[^"]*\\"/g, '')
}

/** The administrator's view of everything but the reader's own requests. */
async function recordsOf({ call, guard }: Clients): Promise<string> {
  const get = async (path: string) => (await call('GET', path)).body
  const { updates } = await get('/updates?limit=200')
  const { definitions, book } = await guard.ledger.view()
  const entries = await guard.ledger.entries({ month: book.month }, 200)
  const others = updates.filter(({ caller }: { caller: string }) => caller !== 'mia')
  return JSON.stringify([others, definitions, book, entries, await get('/plans')])
}

describe('a user who reads one client', () => {
  test('a user who reads one client cannot distinguish the other client from an unknown one on any page', async () => {
    const clients = await startClients()
    const browser = openBrowser(clients)
    await browser.logIn(clients.mia)
    const names = namesOf(clients)
    const before = [await recordsOf(clients), clients.service.requests.filter(({ url }) => /zed|7777/.test(url)).length]
    const wrong: object[] = []
    const once = createAskedOnce()
    for (const { what, route, members, send } of await pageProbesOf(clients, browser, none)) {
      if (once.isAnswered(route, members)) continue
      // The clock moves because exports are limited.
      clients.clock.advance(minutes(0.3))
      const [others, unknown] = [await send(browser, names[0]), await send(browser, names[1])]
      once.note(route, members, unknown)
      const [seen = '', nothing = ''] = [others, unknown].map((answer) => asUnknown(everythingOf(answer), names))
      const told = telling.exec(nothing)?.[0]
      if (seen !== nothing || told || others.status >= 500)
        wrong.push({ what, told, ...difference(seen, nothing, told) })
    }
    expect(wrong.slice(0, 8)).toEqual([])
    const after = [await recordsOf(clients), clients.service.requests.filter(({ url }) => /zed|7777/.test(url)).length]
    expect(after).toEqual(before)
  }, 120_000)

  test('a user who reads one client sees this client on every page, and no name of the other client', async () => {
    const clients = await startClients()
    const browser = openBrowser(clients)
    await browser.logIn(clients.mia)
    const [, unknown] = namesOf(clients)
    const own = { ...unknown, budget: 'acme', project: 'shop', caller: 'max', plan: 'both', id: '5001' }
    const wrong: object[] = []
    const look = (what: string, shown: Shown) => {
      const text = asUnknown(everythingOf(shown), [own, own])
      const told = telling.exec(text)?.[0] ?? clients.other.updates.find((id) => text.includes(id))
      if (told || shown.status >= 500) wrong.push({ what, told, ...difference(text, text, told) })
    }
    const once = createAskedOnce()
    for (const { what, route, members, send } of await pageProbesOf(clients, browser, none)) {
      if (what.startsWith('POST') || once.isAnswered(route, members)) continue
      clients.clock.advance(minutes(0.3))
      const shown = await send(browser, own)
      once.note(route, members, shown)
      look(what, shown)
    }
    for (const id of [...Object.values(clients.ids), 'x']) look(id, await browser.get(`/dashboard/updates/${id}`))
    expect((await browser.get('/dashboard/activity')).text).not.toMatch(/\b(null|undefined)\b/)
    for (const plan of ['both', 'own']) look(plan, await browser.get(`/dashboard/plans/${plan}`))
    expect(wrong.slice(0, 8)).toEqual([])
  }, 120_000)
})

test('the overview works for a reader of one client, of several clients or of no client', async () => {
  const clients = await startClients()
  const { budgets } = (await clients.call('GET', '/budgets')).body
  const leftOf = (...names: string[]) => {
    const months = budgets.filter(({ name }: { name: string }) => names.includes(name)).map(monthOf)
    const sum = (numbers: number[]) => count(numbers.reduce((all, each) => all + each, 0))
    return `Left of ${sum(months.map((each: Month) => each.limit + each.granted))} ${sum(months.map((each: Month) => each.available))} `
  }
  const overviewOf = async (readsBudgets: readonly string[]) => {
    await clients.call('PUT', '/callers/nora', { body: { readsBudgets } })
    const browser = openBrowser(clients)
    await browser.logIn(clients.signed({ sub: 'nora', scope: 'read', budgets: '*' }))
    for (const path of ['/dashboard/budgets', '/dashboard/plans', '/dashboard/statements?by=budget', '/?window=all'])
      expect([path, (await browser.get(path)).status]).toEqual([path, 200])
    return browser.get('/')
  }
  const one = await overviewOf(['acme'])
  expect(one.text).toContain(leftOf('acme'))
  expect(one.html).toMatch(/acme: .* left/)
  expect(one.html).toContain('<span class="badge">3 ')
  const several = await overviewOf(['acme', 'zenith'])
  expect(several.text).toContain(leftOf('acme', 'zenith'))
  expect(several.html).not.toContain('overco')
  expect(several.html).toContain('<span class="badge">5 ')
  const none = await overviewOf([])
  expect([none.status, none.text]).toEqual([200, expect.stringContaining('You may read no budget.')])
})

interface Month {
  readonly limit: number
  readonly granted: number
  readonly available: number
}

const monthOf = ({ windows }: { windows: readonly (Month & { window: string })[] }) =>
  windows.find(({ window }) => window.startsWith('month'))

function difference(seen: string, nothing: string, told: string | undefined) {
  const at = told ? nothing.indexOf(told) : [...seen].findIndex((each, index) => each !== nothing[index])
  return { seen: seen.slice(Math.max(0, at - 150), at + 150), nothing: nothing.slice(Math.max(0, at - 150), at + 150) }
}
