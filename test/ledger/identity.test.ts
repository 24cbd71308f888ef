import { describe, expect, test } from 'vitest'
import type { Identity } from '../../shared/ledger/definitions/definitions.ts'
import {
  acceptance,
  adoption,
  type ExpectedLedger,
  emptyFault,
  epochFaults,
  identityFaults,
  movedTo,
  openingUnits,
  relocation,
  renewalChange,
  replacement,
  serviceNameOf,
  usualAccount,
  WrongLedger,
} from '../../shared/ledger/identity.ts'
import { createLedger } from '../../shared/ledger/ledger.ts'
import type { Item } from '../../shared/ledger/store/store.ts'
import { createTestClock } from '../support/clock.ts'
import { u } from '../support/records.ts'
import { createMemoryStore } from '../support/store/memory-store.ts'

const service = 'https://service.example/v3'
const trial: ExpectedLedger = { service: 'sandbox', account: {} }
const account = { unitsPerMonth: u(20_000), usedAtStart: u(800), renewal: { day: 12, time: '00:00', zone: 'UTC' } }

/** A ledger that began with the account above. Each `open` is another process with its own settings. */
async function begun(expected: ExpectedLedger = { service }) {
  const items = new Map<string, Item>()
  const store = createMemoryStore(items)
  const clock = createTestClock('2026-11-20T10:00:00Z')
  const open = (told?: ExpectedLedger) =>
    createLedger({ store, clock, account: usualAccount, ...(told && { expected: told }) })
  await createLedger({ store, clock, account, expected }).view()
  return { items, store, open }
}

const refusalOf = (ledger: ReturnType<typeof createLedger>) =>
  ledger.view().then(
    () => 'opened',
    (error) => (error instanceof WrongLedger ? error.message : error),
  )

describe('a ledger’s service and account', () => {
  test('a ledger opens with the settings that it began with, or without any', async () => {
    const { open } = await begun()
    for (const set of [
      {},
      { ACCOUNT_UNITS_PER_MONTH: u(20_000), ACCOUNT_UNITS_USED_AT_START: u(800), ACCOUNT_RENEWAL_DAY: 12 },
      { ACCOUNT_RENEWAL_TIME: '00:00', ACCOUNT_TIME_ZONE: 'UTC' },
      { ACCOUNT_TIME_ZONE: 'Etc/UTC' },
    ])
      expect(await refusalOf(open({ service, account: set }))).toBe('opened')
    expect((await open({ service }).view()).definitions.identity).toMatchObject({ service, began: account })
  })

  test('a running process refuses its ledger as soon as another table has replaced it', async () => {
    const { open } = await begun()
    const [running, careless] = [open({ service }), open()]
    await Promise.all([running.view(), careless.view()])
    await open().change('ada', replacement('units-2'))
    expect(await refusalOf(running)).toContain('this table was replaced by the table units-2')
    expect(await refusalOf(careless)).toBe('opened')
  })

  test.each([
    [
      'another service',
      { service: 'https://other.example/v3' },
      'it began with the service https://service.example/v3, but the service set now is https://other.example/v3: use the service that it began with, or another ledger (DATA_DIR, or another deployment); if the same account has moved to a new address, say so with npm run account -- adopt',
    ],
    [
      'another port of the same host',
      { service: 'https://service.example:8443/v3' },
      'it began with the service https://service.example/v3, but the service set now is https://service.example:8443/v3: use the service that it began with, or another ledger (DATA_DIR, or another deployment); if the same account has moved to a new address, say so with npm run account -- adopt',
    ],
    [
      'another limit',
      { service, account: { ACCOUNT_UNITS_PER_MONTH: u(50_000) } },
      'ACCOUNT_UNITS_PER_MONTH is 50000, but the ledger began with 20000: unset the setting (to change the limit, PUT /budgets/account)',
    ],
    [
      'another opening position',
      { service, account: { ACCOUNT_UNITS_USED_AT_START: u(0) } },
      'ACCOUNT_UNITS_USED_AT_START is 0, but the ledger began with 800: unset the setting (the opening entry can be corrected)',
    ],
    [
      'another renewal day',
      { service, account: { ACCOUNT_RENEWAL_DAY: 1 } },
      'ACCOUNT_RENEWAL_DAY is 1, but the ledger began with 12: unset the setting (to change the renewal, npm run account -- renewal)',
    ],
    [
      'another time and another zone',
      { service, account: { ACCOUNT_RENEWAL_TIME: '06:00', ACCOUNT_TIME_ZONE: 'Europe/Berlin' } },
      'ACCOUNT_RENEWAL_TIME is 06:00, but the ledger began with 00:00: unset the setting (to change the renewal, npm run account -- renewal); ACCOUNT_TIME_ZONE is Europe/Berlin, but the ledger began with UTC: unset the setting (to change the renewal, npm run account -- renewal)',
    ],
  ])('a ledger refuses %s with both values, and changes nothing', async (_, expected: ExpectedLedger, text) => {
    const { items, open } = await begun()
    const before = JSON.stringify([...items])
    expect(await refusalOf(open(expected))).toBe(`This ledger is not the one that is set here: ${text}.`)
    expect(JSON.stringify([...items])).toBe(before)
  })

  test('the trial’s ledger is refused for a real service, and a real ledger for the trial', async () => {
    expect(await refusalOf((await begun(trial)).open({ service }))).toContain('it began with the service sandbox')
    expect(await refusalOf((await begun()).open(trial))).toContain('but the service set now is sandbox')
  })

  test('a ledger accepts the old and the new renewal after an operator has changed the renewal', async () => {
    const { open } = await begun()
    const changed = await open().change('setup', renewalChange({ day: 28, zone: 'Europe/Berlin' }))
    expect(changed.kind).toBe('changed')
    for (const day of [12, 28])
      expect(await refusalOf(open({ service, account: { ACCOUNT_RENEWAL_DAY: day } }))).toBe('opened')
    expect(await refusalOf(open({ service, account: { ACCOUNT_RENEWAL_DAY: 1 } }))).toContain(
      'the ledger began with 12 and now has 28',
    )
    const again = await open().change('setup', renewalChange({ day: 28 }))
    expect(again).toEqual({
      kind: 'refused',
      refused: 'The month already turns on day 28 at 00:00 Europe/Berlin.',
    })
  })

  test.each([
    ['HTTPS://Service.Example:443/v3', 'https://service.example/v3'],
    ['https://service.example/v3/', 'https://service.example/v3'],
    ['http://service.example/v3', 'http://service.example/v3'],
    ['https://service.example:8443/eu/v3', 'https://service.example:8443/eu/v3'],
  ])('the service %s is recognized as %s', (baseUrl, name) => {
    expect(serviceNameOf(baseUrl)).toBe(name)
  })
})

describe('a ledger without a recorded service', () => {
  async function old() {
    const { items, store, open } = await begun()
    const [key, item] = [...items].find(([, { pk }]) => pk === 'definitions') ?? []
    if (!key || !item) throw new Error('there are no definitions')
    const { identity: _, ...rest } = item
    items.set(key, rest as Item)
    return { store, open }
  }

  test('a ledger without a recorded service is refused until an operator adopts the ledger', async () => {
    const { store, open } = await old()
    expect(await refusalOf(open({ service }))).toBe(
      'This ledger is not the one that is set here: it was written by a version that did not note its service; if it belongs to the service and the account that are set here, say so once with npm run account -- adopt.',
    )
    const make = adoption({ service, usedAtStart: await openingUnits(store) })
    expect((await open().change('setup', make)).kind).toBe('changed')
    expect(await refusalOf(open({ service, account: { ACCOUNT_UNITS_USED_AT_START: u(800) } }))).toBe('opened')
    expect(await refusalOf(open({ service, account: { ACCOUNT_RENEWAL_DAY: 1 } }))).toContain('began with 12')
    const { rows } = await open().entries({ month: 'month:2026-11-12' }, 10)
    expect(rows.find(({ type }) => type === 'adopt')).toMatchObject({
      type: 'adopt',
      reason: `this ledger belongs to ${service}`,
      by: 'setup',
    })
  })

  test('an operator adopts a ledger for a new address, but never from the stand-in for a real account', async () => {
    const { open } = await begun()
    const moved = 'https://new.example/v3'
    expect((await open().change('setup', adoption({ service: moved, usedAtStart: 0 }))).kind).toBe('changed')
    expect(await refusalOf(open({ service: moved, account: { ACCOUNT_UNITS_USED_AT_START: u(800) } }))).toBe('opened')
    const tried = await (await begun(trial)).open().change('setup', adoption({ service, usedAtStart: 0 }))
    expect(tried).toMatchObject({ kind: 'refused', refused: expect.stringContaining('set DATA_DIR to another folder') })
  })
})

describe('the place where a ledger may be opened', () => {
  const identity = { ledger: 'led_1', service, began: account, table: 'tbl-1', epoch: 2 }
  /** `null`: a ledger without a recorded service. */
  const viewOf = async (more: Partial<Identity> | null = {}) => {
    const view = await (await begun()).open().view()
    const { identity: _, ...definitions } = view.definitions
    return {
      ...view,
      definitions: more === null ? definitions : { ...definitions, identity: { ...identity, ...more } },
    }
  }
  const marker = { ledger: 'led_1', epoch: 2, table: 'tbl-1', tableName: 'units' }

  test.each([
    ['its own table', {}, { marker }, { table: 'tbl-1' }, []],
    ['a table without an id', {}, { marker }, {}, []],
    ['no marker', {}, { marker: null }, { table: 'tbl-1' }, []],
    ['a ledger that noted no table', { table: undefined }, {}, { table: 'tbl-9' }, []],
    [
      'a replaced table',
      { replacedBy: 'units-2' },
      { marker },
      { table: 'tbl-1' },
      ['this table was replaced by the table units-2: deploy with that one'],
    ],
    [
      'a copied table',
      {},
      {},
      { table: 'tbl-9' },
      [
        'this table is a copy of the ledger led_1, and lacks the updates that ran since: use the original, or accept this one with npm run restore -- accept',
      ],
    ],
    [
      'a copied file',
      {},
      {},
      { table: 'tbl-9', place: 'file' },
      [
        'this file is a copy of the ledger led_1, and lacks the updates that ran since: use the original, or accept this one with npm run restore -- accept; if you moved its folder here, run npm run account -- moved',
      ],
    ],
    [
      'the table of another ledger',
      {},
      { marker: { ...marker, ledger: 'led_2' } },
      { table: 'tbl-1' },
      ['this table holds the ledger led_1, but the marker expects the ledger led_2 in units'],
    ],
    [
      'a table with an older epoch',
      {},
      { marker: { ...marker, epoch: 3 } },
      { table: 'tbl-1' },
      [
        'this table has epoch 2, but the marker expects epoch 3 in units: deploy again; if this table was restored, accept it first with npm run restore -- accept',
      ],
    ],
    [
      'a file without an epoch',
      { epoch: undefined },
      { marker },
      { table: 'tbl-1', place: 'file' },
      [
        'this file has epoch 0, but the marker expects epoch 2 in units: start again; if this file was restored, accept it first with npm run restore -- accept',
      ],
    ],
  ] as const)('says what is wrong with %s', async (_name, more, expected, where, texts) => {
    const { definitions } = await viewOf(more as Partial<Identity>)
    const faults = identityFaults(definitions, expected, where)
    expect(faults.map(({ text }) => text)).toEqual(texts)
  })

  test.each([
    [{}, 2, 'table', []],
    [null, 0, 'table', []],
    [
      {},
      1,
      'table',
      ['this table was accepted as restored (epoch 2) after this process began (epoch 1): deploy again'],
    ],
    [{}, 1, 'file', ['this file was accepted as restored (epoch 2) after this process began (epoch 1): start again']],
    [{ replacedBy: 'units-2' }, 2, 'file', ['this file was replaced by the table units-2: deploy with that one']],
  ] as const)(
    'stops a process of a ledger with %j that began at epoch %i in a %s',
    async (more, began, place, texts) => {
      const { definitions } = await viewOf(more)
      expect(epochFaults(definitions, began, place).map(({ text }) => text)).toEqual(texts)
    },
  )

  test('the refusal says how to find or begin a missing ledger', () => {
    expect(emptyFault(null)).toEqual({
      text: 'the table holds no ledger yet: begin it once with npm run account -- begin',
    })
    expect(emptyFault(marker)).toEqual({
      text: 'the table is empty, and the ledger led_1 is in the table units: name that one (on AWS -c ledgerTable=… -c ledgerStream=…)',
    })
    expect(emptyFault(marker, 'file')).toEqual({
      text: 'the file is empty, and the ledger led_1 is named by the marker beside it: mount its disk, or restore a backup with npm run restore -- from <file>',
    })
  })

  test('a moved ledger records its new folder, and freezes nothing', async () => {
    expect(relocation('tbl-9')(await viewOf())).toEqual({
      definitions: (await viewOf({ table: 'tbl-9' })).definitions,
      note: { type: 'adopt', budget: 'account', reason: 'the folder of this ledger was moved' },
    })
  })

  test('a ledger records the table that took over', async () => {
    expect(replacement('units-2')(await viewOf())).toEqual({
      definitions: (await viewOf({ replacedBy: 'units-2' })).definitions,
      note: { type: 'restore', budget: 'account', reason: 'the table units-2 has taken over' },
    })
  })

  test('a ledger has a higher epoch in its new table', () => {
    expect(movedTo('tbl-9', { ...identity, replacedBy: 'units-2' })).toEqual({ ...identity, table: 'tbl-9', epoch: 3 })
    const { epoch: _none, ...first } = identity
    expect(movedTo('tbl-9', first)).toEqual({ ...first, table: 'tbl-9', epoch: 1 })
  })

  test('a ledger without a recorded service cannot be moved', async () => {
    const adoptFirst = { refused: 'This ledger does not know its service: adopt it first.' }
    const restored = acceptance({ table: 'tbl-9', epoch: 3, to: undefined, toText: 'yesterday' })
    const [known, unknown] = [await viewOf(), await viewOf(null)]
    expect(relocation('tbl-9')(unknown)).toEqual(adoptFirst)
    expect(restored(unknown)).toEqual(adoptFirst)
    expect(restored({ ...known, definitions: { ...known.definitions, budgets: {} } })).toEqual(adoptFirst)
    expect(replacement('units-2')(unknown)).toEqual({ refused: 'the previous table does not know its service' })
  })
})
