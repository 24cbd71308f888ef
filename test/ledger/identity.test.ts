import { describe, expect, test } from 'vitest'
import {
  adoption,
  type ExpectedLedger,
  openingUnits,
  renewalChange,
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

/** A ledger that began with the account above; each `open` is another process with settings of its own. */
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

describe('a ledger knows the service and the account that it began with', () => {
  test('a ledger opens with the settings that it began with, or with none', async () => {
    const { open } = await begun()
    for (const set of [
      {},
      { ACCOUNT_UNITS_PER_MONTH: u(20_000), ACCOUNT_UNITS_USED_AT_START: u(800), ACCOUNT_RENEWAL_DAY: 12 },
      { ACCOUNT_RENEWAL_TIME: '00:00', ACCOUNT_TIME_ZONE: 'UTC' },
    ])
      expect(await refusalOf(open({ service, account: set }))).toBe('opened')
    expect((await open({ service }).view()).definitions.identity).toMatchObject({ service, began: account })
  })

  test.each([
    [
      'another service',
      { service: 'https://other.example/v3' },
      'it began with the service https://service.example/v3, and the service here is https://other.example/v3: use the service that it began with, or another ledger (DATA_DIR, or another deployment); where the same account has moved to a new address, say so with npm run account -- adopt',
    ],
    [
      'another port of the same host',
      { service: 'https://service.example:8443/v3' },
      'it began with the service https://service.example/v3, and the service here is https://service.example:8443/v3: use the service that it began with, or another ledger (DATA_DIR, or another deployment); where the same account has moved to a new address, say so with npm run account -- adopt',
    ],
    [
      'another limit',
      { service, account: { ACCOUNT_UNITS_PER_MONTH: u(50_000) } },
      'ACCOUNT_UNITS_PER_MONTH is 50000 here, and the ledger began with 20000: unset it (PUT /budgets/account changes the limit)',
    ],
    [
      'another opening position',
      { service, account: { ACCOUNT_UNITS_USED_AT_START: u(0) } },
      'ACCOUNT_UNITS_USED_AT_START is 0 here, and the ledger began with 800: unset it (a correction of the entry changes it)',
    ],
    [
      'another renewal day',
      { service, account: { ACCOUNT_RENEWAL_DAY: 1 } },
      'ACCOUNT_RENEWAL_DAY is 1 here, and the ledger began with 12: unset it (npm run account -- renewal changes it)',
    ],
    [
      'another time and another zone',
      { service, account: { ACCOUNT_RENEWAL_TIME: '06:00', ACCOUNT_TIME_ZONE: 'Europe/Berlin' } },
      'ACCOUNT_RENEWAL_TIME is 06:00 here, and the ledger began with 00:00: unset it (npm run account -- renewal changes it); ACCOUNT_TIME_ZONE is Europe/Berlin here, and the ledger began with UTC: unset it (npm run account -- renewal changes it)',
    ],
  ])('refuses %s in one sentence that says both, and changes nothing', async (_, expected: ExpectedLedger, text) => {
    const { items, open } = await begun()
    const before = JSON.stringify([...items])
    expect(await refusalOf(open(expected))).toBe(`This ledger is not the one that is set here: ${text}.`)
    expect(JSON.stringify([...items])).toBe(before)
  })

  test('refuses the trial’s ledger for a real service, and a real one for the trial', async () => {
    expect(await refusalOf((await begun(trial)).open({ service }))).toContain('it began with the service sandbox')
    expect(await refusalOf((await begun()).open(trial))).toContain('and the service here is sandbox')
  })

  test('accepts the old and the new renewal once an operator has changed it', async () => {
    const { open } = await begun()
    const changed = await open().change('setup', renewalChange({ day: 28, zone: 'Europe/Berlin' }))
    expect(changed.kind).toBe('changed')
    for (const day of [12, 28])
      expect(await refusalOf(open({ service, account: { ACCOUNT_RENEWAL_DAY: day } }))).toBe('opened')
    expect(await refusalOf(open({ service, account: { ACCOUNT_RENEWAL_DAY: 1 } }))).toContain(
      'the ledger began with 12 and has 28 now',
    )
    const again = await open().change('setup', renewalChange({ day: 28 }))
    expect(again).toEqual({
      kind: 'refused',
      refused: 'The month turns on day 28 at 00:00 Europe/Berlin already.',
    })
  })

  test.each([
    ['HTTPS://Service.Example:443/v3', 'https://service.example/v3'],
    ['https://service.example/v3/', 'https://service.example/v3'],
    ['http://service.example/v3', 'http://service.example/v3'],
    ['https://service.example:8443/eu/v3', 'https://service.example:8443/eu/v3'],
  ])('knows the service %s as %s', (baseUrl, name) => {
    expect(serviceNameOf(baseUrl)).toBe(name)
  })
})

describe('a ledger of a version that noted no service', () => {
  async function old() {
    const { items, store, open } = await begun()
    const [key, item] = [...items].find(([, { pk }]) => pk === 'definitions') ?? []
    if (!key || !item) throw new Error('there are no definitions')
    const { identity: _, ...rest } = item
    items.set(key, rest as Item)
    return { store, open }
  }

  test('refuses a ledger without a service until an operator adopts it', async () => {
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

  test('adopts a ledger for a new address, but never from the stand-in for a real account', async () => {
    const { open } = await begun()
    const moved = 'https://new.example/v3'
    expect((await open().change('setup', adoption({ service: moved, usedAtStart: 0 }))).kind).toBe('changed')
    expect(await refusalOf(open({ service: moved, account: { ACCOUNT_UNITS_USED_AT_START: u(800) } }))).toBe('opened')
    const tried = await (await begun(trial)).open().change('setup', adoption({ service, usedAtStart: 0 }))
    expect(tried).toMatchObject({ kind: 'refused', refused: expect.stringContaining('set DATA_DIR to another folder') })
  })
})
