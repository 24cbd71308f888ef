import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { occurrences } from '../../shared/guard/plans/stored-occurrence.ts'
import { lastPrices } from '../../shared/guard/plans/stored-price.ts'
import { knownDates } from '../../shared/guard/sweep/known-dates.ts'
import { fromBookItem } from '../../shared/ledger/book/book-item.ts'
import { fromCorrectionMark, fromEntryItem } from '../../shared/ledger/book/entry.ts'
import { fromDefinitionsItem } from '../../shared/ledger/definitions/definitions-item.ts'
import { DamagedItem } from '../../shared/ledger/errors.ts'
import { usualAccount } from '../../shared/ledger/identity.ts'
import { createLedger } from '../../shared/ledger/ledger.ts'
import { fromItem } from '../../shared/ledger/store/item-kind.ts'
import { type Item, nameOf } from '../../shared/ledger/store/store.ts'
import { contentOf } from '../../shared/ledger/store/stored.ts'
import { fromTaskItem } from '../../shared/ledger/updates/queue.ts'
import { announcements } from '../../shared/ledger/updates/tasks.ts'
import { fromUpdateItem } from '../../shared/ledger/updates/update-keys.ts'
import { fromWorkItem } from '../../shared/ledger/updates/work.ts'
import { fromProjectChangeItem } from '../../shared/ledger/views/project-changes.ts'
import { slackEvents } from '../../shared/slack/slack-events.ts'
import { createTestClock } from '../support/clock.ts'
import { createMemoryStore } from '../support/store/memory-store.ts'

/** Items in stored form 1: a demonstration month, and the items that Slack, the gateway and the nightly reading write. */
const before: readonly Item[] = readFileSync(new URL('./stored/1.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line))

const readers: Readonly<Record<string, (item: Item) => unknown>> = {
  update: fromUpdateItem,
  work: fromWorkItem,
  book: fromBookItem,
  definitions: fromDefinitionsItem,
  entry: fromEntryItem,
  righted: fromCorrectionMark,
  'project-change': fromProjectChangeItem,
  sighting: (item) => fromItem(knownDates, item),
  price: (item) => fromItem(lastPrices, item),
  announcement: (item) => fromTaskItem(announcements, item),
  occurrence: (item) => fromTaskItem(occurrences, item),
  'slack-event': (item) => fromTaskItem(slackEvents, item),
}

/** Only the definitions have a form number. */
function withoutForm(item: Item) {
  const { form: _form, ...content } = contentOf(item)
  return content
}

const kindOf = ({ pk }: Item): string => pk.split('#')[0] ?? ''
const read = (item: Item) => readers[kindOf(item)]?.(item)

function itemOf(kind: string, fits: (item: Item) => boolean = () => true): Item {
  const found = before.find((item) => kindOf(item) === kind && fits(item))
  if (!found) throw new Error(`there is no such ${kind}`)
  return found
}

describe('items of form 1', () => {
  const others = before.filter((item) => kindOf(item) !== 'book')

  test('there are stored items of form 1 of each kind', () => {
    const kinds = [...new Set(before.map(kindOf))].toSorted()
    expect(kinds.map((kind) => `${kind} ${before.filter((item) => kindOf(item) === kind).length}`)).toEqual([
      'announcement 8',
      'book 1',
      'definitions 1',
      'entry 8',
      'occurrence 1',
      'price 1',
      'project-change 2',
      'sighting 1',
      'slack-event 2',
      'update 17',
      'work 2',
    ])
  })

  test.each(others.map((item) => [item.pk, item] as const))(
    'reads an item of form 1 as it was written, with members that a later version added: %s',
    (_pk, item) => {
      const later = { addedLater: { by: ['a later version'] } }
      expect(read(item)).toEqual(withoutForm(item))
      expect(read({ ...item, ...later })).toEqual({ ...withoutForm(item), ...later })
    },
  )

  test('a book of form 1 is read without the members that a later version added', () => {
    const { counters, ...book } = fromBookItem(itemOf('book'))
    expect(book).toEqual({ month: 'month:2026-11-01', day: 'day:2026-11-22', revision: 16 })
    expect(read({ ...itemOf('book'), addedLater: 1 })).toEqual({ ...book, counters })
    expect(counters.month.account).toEqual({
      limit: 50_000,
      granted: 0,
      available: 29_179,
      held: 0,
      inDoubt: 210,
      spent: 20_611,
    })
    expect(counters.day.account).toMatchObject({ limit: 'unlimited', available: -1_010, spent: 800 })
    expect(Object.keys(counters.month)).toHaveLength(12)
  })

  test('a ledger of form 1 can be opened', async () => {
    const clock = createTestClock('2026-11-22T20:00:00Z')
    const store = createMemoryStore(new Map(before.map((item) => [nameOf(item), item])))
    const ledger = createLedger({ store, clock, account: usualAccount })
    const { definitions, book } = await ledger.view()
    expect([definitions.revision, book.counters.month.account?.available]).toEqual([16, 29_179])
    expect((await ledger.updates({}, 100)).rows).toHaveLength(17)
    expect((await ledger.updates({ state: 'in-doubt' }, 100)).rows.map(({ hold }) => hold?.units)).toEqual([90])
    expect((await ledger.entries({ month: 'month:2026-11-01' }, 100)).rows).toHaveLength(8)
    expect((await ledger.queue(slackEvents).open(10)).rows.map(({ id }) => id)).toEqual(['press-1'])
    expect((await ledger.projectChanges(10)).rows.map(({ id }) => id)).toEqual(['chg_2', 'chg_1'])
  })
})

describe('a damaged item is refused with its key and its first wrong member', () => {
  const settled = itemOf('update', ({ state }) => state === 'settled')
  const hold = Object(settled.hold)
  const definitions = itemOf('definitions')
  const counter = { l: 1_000, g: 0, a: 1_000, h: 0, i: 0, s: 0 }
  const announced = (kind: string) => itemOf('announcement', ({ about }) => Object(about).kind === kind)

  const rows: readonly [Item, object, string][] = [
    [settled, { pk: 'update#other' }, 'its id is not the one in its key'],
    [settled, { version: undefined }, 'version is missing'],
    [settled, { version: 1.5 }, 'version must be a whole number'],
    [settled, { history: undefined }, 'history is missing'],
    [settled, { content: { digest: 'd' } }, 'content.count is missing'],
    [settled, { hold: { ...hold, units: -1 } }, 'hold.units must be units'],
    [settled, { hold: { ...hold, budgets: ['shop', 7] } }, 'hold.budgets[1] must be text'],
    [settled, { hold: { ...hold, senderUntil: '9' } }, 'hold.senderUntil must be a time'],
    [
      settled,
      { history: [{ state: 'running', at: 1, by: 'guard', move: { held: 0.5 } }] },
      'history[0].move.held must be a whole number',
    ],
    [
      settled,
      { state: 'paused' },
      'state must be one of awaiting-approval, requested, running, in-doubt, settled, released, refused, rejected, cancelled, expired',
    ],
    [settled, { corrected: false }, 'corrected must be true'],
    [settled, { leave: 'much' }, 'leave must be a map'],
    [settled, { content: null }, 'content must be a map'],
    [settled, { ran: 'yes' }, 'ran must be true or false'],
    [settled, { owner: 7 }, 'owner must be text'],
    [
      settled,
      { problem: { slug: 'x', detail: 'y', members: { at: undefined } } },
      'problem.members.at must be present',
    ],
    [settled, { closedBy: 'chance' }, 'closedBy must be one of sender, evidence, time, person'],
    [itemOf('work'), { update: undefined }, 'update is missing'],
    [itemOf('work'), { version: '3' }, 'version must be a whole number'],
    [itemOf('book'), { today: undefined }, 'today is missing'],
    [itemOf('book'), { revision: '3' }, 'revision must be a whole number'],
    [itemOf('book'), { month: { account: { ...counter, a: 999.5 } } }, 'month.account.a must be a whole number'],
    [itemOf('book'), { month: { account: { ...counter, s: undefined } } }, 'month.account.s is missing'],
    [itemOf('book'), { day: { account: { ...counter, a: '0' } } }, 'day.account.a must be a whole number'],
    [definitions, { form: 2 }, 'form must be 1'],
    [definitions, { form: undefined }, 'form is missing'],
    [definitions, { revision: undefined }, 'revision is missing'],
    [definitions, { revision: 1.5 }, 'revision must be a whole number'],
    [definitions, { calendar: undefined }, 'calendar is missing'],
    [definitions, { budgets: undefined }, 'budgets is missing'],
    [definitions, { budgets: { account: { name: 'account' } } }, 'budgets.account.parent is missing'],
    [definitions, { callers: [] }, 'callers must be a map'],
    [definitions, { identity: { ledger: 'led_1' } }, 'identity.service is missing'],
    [itemOf('entry'), { pk: 'entry#other' }, 'its id is not the one in its key'],
    [itemOf('entry'), { moves: undefined }, 'moves is missing'],
    [
      itemOf('entry'),
      { moves: [{ budget: 'account', window: 'year', move: {} }] },
      'moves[0].window must be one of month, day',
    ],
    [{ pk: 'righted#ent_1', sk: 'righted', by: 'ent_2' }, { by: 2 }, 'by must be text'],
    [itemOf('project-change'), { id: 'chg_9' }, 'its id is not the one in its key'],
    [itemOf('project-change'), { status: '200' }, 'status must be a whole number'],
    [itemOf('sighting'), { dates: 'none' }, 'dates must be a list'],
    [itemOf('price'), { units: '44' }, 'units must be units'],
    [
      announced('threshold'),
      { about: { kind: 'rumour' } },
      'about.kind must be one of approval-wanted, approval-reminder, in-doubt, overrun, correction, outcome, occurrence, threshold, will-run-out, refusals, repeats, price-jumped, unread-figure, stopped, released, not-delivered, given-back, foreign-data, token-expires, audit-failed, digest',
    ],
    [announced('digest'), { about: { kind: 'digest' } }, 'about.until is missing'],
    [announced('digest'), { pk: 'announcement#other' }, 'its id is not the one in its key'],
    [announced('digest'), { version: 'new' }, 'version must be a whole number'],
    [itemOf('occurrence'), { lease: { by: 'me' } }, 'lease.until is missing'],
    [
      itemOf('slack-event', ({ kind }) => kind === 'press'),
      { action: 'dance' },
      'action must be one of confirm, ask, approve, reject, resolve-ran, resolve-did-not-run',
    ],
    [
      itemOf('slack-event', ({ kind }) => kind === 'command'),
      { quotes: { acme: 'much' } },
      'quotes.acme must be a whole number',
    ],
  ]
  test.each(rows.map((row) => [`${kindOf(row[0])}: ${row[2]}`, ...row] as const))(
    'a damaged item is refused with its key and its first wrong member: %s',
    (_name, item, damage, fault) => {
      const damaged: Item = { ...item, ...damage }
      expect(() => read(damaged)).toThrow(DamagedItem)
      expect(() => read(damaged)).toThrow(`the stored item ${damaged.pk} (${damaged.sk}) is damaged: ${fault}`)
    },
  )

  test('reading a damaged item throws, and writes nothing', async () => {
    const damaged = { ...settled, hold: { ...hold, units: '40' } }
    const items = new Map([definitions, itemOf('book'), damaged].map((item) => [nameOf(item), item]))
    const kept = new Map(items)
    const clock = createTestClock('2026-11-22T20:00:00Z')
    const ledger = createLedger({ store: createMemoryStore(items), clock, account: usualAccount })
    const fault = `the stored item ${settled.pk} (update) is damaged: hold.units must be units`
    await expect(ledger.update(String(settled.id))).rejects.toThrow(fault)
    await expect(ledger.view([{ id: String(settled.id) }])).rejects.toThrow(fault)
    await expect(ledger.updates({}, 10)).rejects.toThrow(fault)
    expect(items).toEqual(kept)
  })
})
