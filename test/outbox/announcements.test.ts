import { describe, expect, test } from 'vitest'
import { findPastEvents } from '../../infra/local/commands/events/replay.ts'
import { type CloudEvent, createEventReader, type EventOf } from '../../shared/events/event.ts'
import { typeOfNews } from '../../shared/events/news.ts'
import { eventTypes, filterTypeOf } from '../../shared/events/types.ts'
import { occurrenceId } from '../../shared/guard/plans/stored-occurrence.ts'
import {
  type About,
  announcement,
  type NewsKind as Kind,
  type NewsForSystems,
} from '../../shared/ledger/updates/tasks.ts'
import { next, type Update } from '../../shared/ledger/updates/update.ts'
import { toUnits } from '../../shared/platform/words.ts'
import { digestOf } from '../../shared/slack/reports/digest.ts'
import { type Composer, createComposer } from '../../shared/slack/tell/compose.ts'
import { openBrowser } from '../support/browser/browser.ts'
import { hours } from '../support/clock.ts'
import { json, type Product, startProduct } from '../support/product.ts'
import { listPeople } from '../support/slack/slack.ts'
import { createMemoryStore } from '../support/store/memory-store.ts'

type ExampleOf<Of extends Kind> = Omit<Extract<About, { readonly kind: Of }>, 'kind'>

const dashboardUrl = 'https://units.example'

interface Records {
  readonly awaiting: string
  readonly doubtful: string
  /** Charged to `seo`, too. */
  readonly overrun: string
  /** Charged to `seo`, too. */
  readonly late: string
  readonly occurrence: string
  readonly resetsAt: number
}

/** An example of each kind, about `seo`, its updates and the caller `key-7`, who is the person `grace`. */
const examples: { readonly [Of in Kind]: (records: Records) => ExampleOf<Of> } = {
  'approval-wanted': ({ awaiting }) => ({ update: awaiting }),
  'approval-reminder': ({ awaiting }) => ({ update: awaiting }),
  'in-doubt': ({ doubtful }) => ({ update: doubtful }),
  overrun: ({ overrun }) => ({ update: overrun }),
  correction: ({ overrun }) => ({ update: overrun }),
  outcome: ({ overrun }) => ({ update: overrun, replyTo: 'cmd_1' }),
  occurrence: ({ occurrence }) => ({ occurrence, state: 'done' }),
  threshold: ({ resetsAt }) => ({ budget: 'seo', window: 'day', percent: 80, used: 80, of: 100, resetsAt }),
  'will-run-out': ({ resetsAt }) => ({
    budget: 'seo',
    at: resetsAt - hours(1),
    left: 20,
    short: 30,
    isAtLeast: true,
    resetsAt,
  }),
  refusals: ({ resetsAt }) => ({ caller: 'key-7', budget: 'seo', count: 12, since: resetsAt, detail: 'It is frozen.' }),
  repeats: ({ resetsAt }) => ({ caller: 'key-7', budget: 'seo', project: 'acme', count: 50, since: resetsAt }),
  'price-jumped': ({ overrun }) => ({ update: overrun, budget: 'seo', project: 'acme', units: 90, before: 40 }),
  'unread-figure': ({ overrun }) => ({ update: overrun, updateKind: 'ranking', place: '/total', units: 9, held: 40 }),
  stopped: () => ({ what: 'budget', name: 'seo', by: 'key-7', reason: 'a loop', isStopped: true }),
  released: () => ({ budget: 'seo', otherBudgets: 0, projects: ['blog'], more: 0, by: 'key-7', reason: 'left' }),
  'not-delivered': ({ late }) => ({ update: late }),
  'given-back': () => ({ units: 848, by: 'key-7', reason: 'as the vendor says' }),
  'foreign-data': () => ({ found: [{ project: 'acme', dates: ['2026-11-19'] }], more: 0 }),
  'token-expires': ({ resetsAt }) => ({ expiresAt: resetsAt, daysLeft: 9 }),
  'audit-failed': () => ({
    books: [{ window: 'month:2026-11-01', budget: 'seo', recorded: counter, recomputed: counter }],
    more: 0,
  }),
  digest: ({ resetsAt }) => ({ until: resetsAt - hours(14) }),
}

const counter = { limit: toUnits(100), granted: 0, available: 60, held: 0, inDoubt: 0, spent: 40 }

interface Told {
  /** The pages that the message links to, in order. */
  readonly pages: readonly string[]
  /** `null`: the usual channel. */
  readonly channel: 'C0SEO' | null
  readonly buttons: readonly string[]
  readonly isDecision: boolean
  /** Whether the message shows the person behind a caller. */
  readonly namesGrace: boolean
  readonly event: string | null
}

const none = { pages: [], channel: null, buttons: [], isDecision: false, namesGrace: false, event: null } as const
const ofSeo = { ...none, channel: 'C0SEO' } as const
const ofUpdate = { ...ofSeo, pages: ['/dashboard/updates/upd_…'] } as const
const approval = { ...ofUpdate, buttons: ['approve', 'approve-up-to', 'reject-because'], isDecision: true } as const
const grant = { ...ofSeo, pages: ['/dashboard/budgets/seo'], buttons: ['grant-units'] } as const

const expected: { readonly [Of in Kind]: Told } = {
  'approval-wanted': approval,
  'approval-reminder': approval,
  'in-doubt': { ...ofUpdate, buttons: ['resolve-ran', 'resolve-did-not-run'], isDecision: true },
  overrun: ofUpdate,
  correction: ofUpdate,
  // Its message answers the request, not the channel.
  outcome: none,
  occurrence: { ...none, pages: ['/dashboard/plans'], event: 'plan.finished' },
  threshold: { ...grant, event: 'budget.threshold' },
  'will-run-out': { ...grant, event: 'budget.will-run-out' },
  refusals: { ...ofSeo, pages: ['/dashboard/updates?state=refused'], namesGrace: true },
  repeats: { ...ofSeo, pages: ['/dashboard/updates?caller=key-7'], namesGrace: true, event: 'caller.repeats' },
  'price-jumped': { ...ofUpdate, event: 'project.price-jumped' },
  'unread-figure': ofUpdate,
  stopped: { ...ofSeo, pages: ['/dashboard/budgets/seo'], buttons: ['unfreeze'], namesGrace: true },
  released: { ...ofSeo, pages: ['/dashboard/budgets/account'], namesGrace: true },
  'not-delivered': {
    ...ofUpdate,
    buttons: ['delivery-came', 'units-given-back'],
    event: 'update.not-delivered',
  },
  'given-back': { ...none, pages: ['/dashboard/activity'], namesGrace: true },
  'foreign-data': { ...none, pages: ['/dashboard/budgets/account'] },
  // No page is about the token.
  'token-expires': { ...none, pages: ['/'] },
  'audit-failed': { ...none, pages: ['/dashboard/activity#audit'], event: 'audit.failed' },
  digest: { ...none, pages: ['/dashboard/updates/upd_…', '/dashboard/updates/upd_…', '/'] },
}

const kinds = Object.keys(expected) as Kind[]

const resetsAt = '2026-11-21T00:00:00.000Z'
const willRunOut = { at: '2026-11-20T23:00:00.000Z', left: 20, short: 30, isAtLeast: true, resetsAt }
const ofCaller = { budget: 'seo', project: 'acme', count: 50, since: resetsAt }

/** The subject of each event, and what its data have besides the record. */
const events: { readonly [Of in NewsForSystems['kind']]: { readonly subject: string; readonly data: object } } = {
  occurrence: { subject: 'nightly', data: { name: 'nightly', occurrence: { state: 'done', counts: { settled: 1 } } } },
  threshold: {
    subject: 'seo',
    data: { name: 'seo', threshold: { window: 'day', percent: 80, used: 80, of: 100, resetsAt } },
  },
  'will-run-out': { subject: 'seo', data: { name: 'seo', willRunOut } },
  repeats: { subject: 'key-7', data: { sub: 'key-7', repeats: ofCaller } },
  'not-delivered': {
    subject: expect.stringMatching(/^upd_/),
    data: { project: 'void', delivery: 'late', units: { charged: 40 } },
  },
  'price-jumped': { subject: 'acme', data: { project: 'acme', priceJump: { units: 90, before: 40 } } },
  'audit-failed': {
    subject: 'ledger',
    data: { ok: false, books: [{ window: 'month:2026-11-01', budget: 'seo', recorded: counter }] },
  },
}

const lateOf = (update: Update): Update =>
  next(update, 'settled', { delivery: { state: 'late' } }, { at: update.createdAt, by: 'sweep' })

async function start() {
  const product = await startProduct({
    bot: true,
    store: createMemoryStore(),
    units: { dear: 640 },
    plans: [{ name: 'nightly', kind: 'ranking', projects: ['shop'], schedule: 'cron(0 10 * * ? *)' }],
  })
  const { services, clock, service } = product
  const limits = [{ window: 'month', units: 5_000 }]
  await product.call('PUT', '/budgets/seo', { body: { limits, approvalAbove: 100, slackChannel: 'C0SEO' } })
  await product.call('PUT', '/callers/key-7', { body: { person: 'grace', scopes: ['run'] } })
  await listPeople(product, { U1ADA: { scopes: ['admin'], budgets: '*' } })
  service.script('/on-demand/doubtful/run', { status: 500 })
  service.script('/on-demand/acme/run', json({ data: { keyword_units: 90 } }))
  const ask = async (project: string): Promise<string> =>
    (await product.update({ kind: 'ranking', project, budget: 'seo' })).body.updates[0].id
  const [awaiting, doubtful, overrun] = [await ask('dear'), await ask('doubtful'), await ask('acme')]
  const late = await ask('void')
  const paid = await product.guard.ledger.update(late)
  if (paid) await product.guard.ledger.record(lateOf(paid), paid)
  await product.triggers.fire('nightly', clock.now(), product.endsAt())
  await product.call('POST', '/budgets/seo/freeze', { body: { reason: 'a loop' } })
  const occurrence = occurrenceId('nightly', clock.now())
  const records = { awaiting, doubtful, overrun, late, occurrence, resetsAt: clock.now() + hours(14) }
  const digest = (until: number) => digestOf({ ...services, dashboardUrl }, until)
  const parts = {
    composer: createComposer({ ...services, dashboardUrl, digest }),
    eventOf: createEventReader(services),
  }
  return {
    product,
    tell: (kind: Kind) => tell({ ...parts, ...product }, { kind, ...examples[kind](records) } as About),
  }
}

/** Announces the example of a kind, and returns what people and systems are told. */
async function tell(
  { guard, clock, composer, eventOf }: Product & { composer: Composer; eventOf: EventOf },
  about: About,
): Promise<Told & { readonly text: string; readonly fact: CloudEvent | null; readonly pastEvent: string | null }> {
  const id = `example#${about.kind}`
  await guard.ledger.announcements.add(announcement(id, clock.now(), about))
  const stored = await guard.ledger.announcements.get(id)
  const composed = stored && (await composer.compose(stored, { hasBot: true }))
  const blocks = JSON.stringify(composed?.message.blocks ?? [])
  const event = await eventOf({ kind: 'announcement', id })
  return {
    text: composed?.message.text ?? '',
    pages: [...blocks.matchAll(/<https:\/\/units\.example([^|]*)\|/g)].map(([, page = '']) => page),
    channel: composed?.channel === 'C0SEO' ? 'C0SEO' : null,
    buttons: [...blocks.matchAll(/"action_id":"([^"]+)"/g)].map(([, action = '']) => action),
    isDecision: composed?.updates !== undefined,
    namesGrace: blocks.includes('grace'),
    event: event && filterTypeOf(event.type),
    fact: event,
    pastEvent: typeOfNews(about),
  }
}

const withoutIds = (page: string): string => page.replace(/upd_[0-9a-z]+/, 'upd_…')

describe('each kind of announcement', () => {
  test('each kind of announcement has its pages, channel, buttons and event', async () => {
    const { tell } = await start()
    const told: Record<string, Told> = {}
    for (const kind of kinds) {
      const { text: _text, fact: _fact, pastEvent: _past, pages, ...others } = await tell(kind)
      told[kind] = { ...others, pages: pages.map(withoutIds) }
    }
    expect(told).toEqual(expected)
  })

  test('each kind of announcement has a message of its own, except an outcome', async () => {
    const { tell } = await start()
    const texts = new Map<string, Kind[]>()
    for (const kind of kinds) {
      const { text } = await tell(kind)
      texts.set(text, [...(texts.get(text) ?? []), kind])
    }
    expect(texts.get('')).toEqual(['outcome'])
    expect([...texts.values()].filter(({ length }) => length > 1)).toEqual([])
  })

  test('each page that an announcement links to opens, with the part of the page', async () => {
    const { product, tell } = await start()
    const browser = openBrowser(product)
    await browser.logIn(product.signed({ sub: 'ada', scope: 'read approve admin', budgets: '*' }))
    for (const kind of kinds) {
      for (const page of (await tell(kind)).pages) {
        const [path = '', part] = page.split('#')
        const { status, html } = await browser.get(path)
        expect([page, status]).toEqual([page, 200])
        if (part !== undefined) expect(html, page).toContain(`id="${part}"`)
      }
    }
  })

  test('each announcement that is an event has its subject and data', async () => {
    const { tell } = await start()
    const facts: Record<string, CloudEvent> = {}
    for (const kind of kinds) {
      const { fact } = await tell(kind)
      if (fact) facts[kind] = fact
    }
    expect(facts).toMatchObject(events)
    expect(Object.keys(facts).toSorted()).toEqual(Object.keys(events).toSorted())
  })

  test('a replay finds each announcement that is an event, by its type', async () => {
    const { product, tell } = await start()
    const told: string[] = []
    for (const kind of kinds) {
      const { event, pastEvent } = await tell(kind)
      expect([kind, pastEvent]).toEqual([kind, event])
      if (event !== null) told.push(`example#${kind}`)
    }
    const span = { since: 0, until: product.clock.now() }
    const past = await findPastEvents(product.guard.ledger, { types: eventTypes }, span)
    const found = past.flatMap(({ reference }) => (reference.kind === 'announcement' ? [reference.id] : []))
    expect(found.filter((id) => id.startsWith('example#')).toSorted()).toEqual(told.toSorted())
  })
})
