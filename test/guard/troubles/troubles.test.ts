import { describe, expect, test } from 'vitest'
import { type DeployedOptions, parseOptions, toOptionsText } from '../../../shared/guard/deployed-options.ts'
import type { GuardSettings } from '../../../shared/guard/options.ts'
import { type MachineFacts, unknownFacts } from '../../../shared/guard/troubles/table.ts'
import { LedgerUnavailable } from '../../../shared/ledger/errors.ts'
import { days, hours, minutes } from '../../support/clock.ts'
import { json, type Product, startProduct } from '../../support/product.ts'
import { createMemoryStore } from '../../support/store/memory-store.ts'

const start = (how: Partial<Parameters<typeof startProduct>[0]> = {}) =>
  startProduct({ store: createMemoryStore(), stream: false, ...how })

/** After the memory of a process. */
async function troublesOf(product: Product) {
  product.clock.advance(minutes(1))
  const { status, body } = await product.call('GET', '/status')
  expect(status).toBe(200)
  return body.troubles as { slug: string; since: string; sentence: string; remedy: string }[]
}
const slugsOf = async (product: Product) => (await troublesOf(product)).map(({ slug }) => slug)

let asked = 0
const ask = (product: Product) => product.update({ kind: 'ranking', project: `p${asked++}.example` })

describe('troubles of the service', () => {
  test.each([
    ['service-token', { status: 401 }, 'The service refuses its token.'],
    ['service-token', { status: 403 }, 'The service refuses its token.'],
    ['service-busy', { status: 429 }, 'The service asks to wait (status 429).'],
    ['service-unreachable', { kind: 'reset' as const }, 'The service does not answer.'],
    ['service-unreachable', { status: 503 }, 'The service does not answer.'],
  ])('%s begins with the first such answer and ends with the next good one', async (slug, answer, sentence) => {
    const product = await start()
    expect(await slugsOf(product)).toEqual([])
    const began = product.clock.now()
    product.service.script(() => true, answer)
    await ask(product)
    expect(await troublesOf(product)).toMatchObject([{ slug, sentence, since: new Date(began).toISOString() }])
    await ask(product)
    product.clock.advance(hours(1))
    await ask(product)
    expect(await troublesOf(product)).toMatchObject([{ slug, since: new Date(began).toISOString() }])
    product.service.script(() => true, ...usual)
    await ask(product)
    expect(await slugsOf(product)).toEqual([])
  })

  test('an answer that refuses one project, or has an error of its own, is no trouble of the service', async () => {
    const product = await start()
    for (const status of [404, 422, 500]) {
      product.service.script(() => true, { status })
      await ask(product)
      expect([status, await slugsOf(product)]).toEqual([status, []])
    }
  })

  test('the sweep of another process ends a trouble when the service lists its projects again', async () => {
    const product = await start()
    product.service.script(() => true, { status: 401 })
    await ask(product)
    const other = product.startProcess()
    await other.triggers.sweep(product.endsAt())
    expect(await slugsOf(product)).toEqual(['service-token'])
    product.service.script(() => true, listed)
    await other.triggers.sweep(product.endsAt())
    expect(await slugsOf(product)).toEqual([])
  })

  test('a process notes a trouble again that another process has ended', async () => {
    const product = await start()
    product.service.script(() => true, { status: 401 })
    await ask(product)
    product.service.script(() => true, listed)
    await product.startProcess().triggers.sweep(product.endsAt())
    expect(await slugsOf(product)).toEqual([])
    product.service.script(() => true, { status: 401 })
    product.clock.advance(minutes(10))
    await ask(product)
    expect(await slugsOf(product)).toEqual(['service-token'])
  })

  test('an estimate that begins a trouble is answered after the trouble is written, because Lambda may then stop the process', async () => {
    const store = createMemoryStore()
    const order: string[] = []
    const product = await start({
      store: {
        ...store,
        transact: async (given, ...rest) => {
          const isTrouble = given.some((write) => JSON.stringify(write).includes('trouble#'))
          if (isTrouble) await new Promise((resolve) => setTimeout(resolve, 100))
          const result = await store.transact(given, ...rest)
          if (isTrouble) order.push('written')
          return result
        },
      },
    })
    product.service.script(() => true, { status: 401 })
    await product.call('GET', '/estimates?kind=ranking&project=p.example')
    order.push('answered')
    expect(order).toEqual(['written', 'answered'])
  })

  test('the ledger is written only when a trouble begins or ends', async () => {
    const store = createMemoryStore()
    let writes = 0
    const product = await start({
      store: {
        ...store,
        transact: (given, ...rest) => {
          if (given.some((write) => JSON.stringify(write).includes('trouble#'))) writes++
          return store.transact(given, ...rest)
        },
      },
    })
    await ask(product)
    await product.triggers.sweep(product.endsAt())
    expect(writes).toBe(0)
    product.service.script(() => true, { status: 401 })
    for (let each = 0; each < 3; each++) await ask(product)
    await product.triggers.sweep(product.endsAt())
    product.clock.advance(minutes(30))
    await ask(product)
    expect(writes).toBe(1)
    product.service.script(() => true, ...usual)
    for (let each = 0; each < 3; each++) await ask(product)
    await product.triggers.sweep(product.endsAt())
    expect(writes).toBe(2)
  })
})

/** An estimate, the dates and a run. */
const usual = [json({ units: 40 })] as const
const listed = json({ projects: [{ id: 1, name: 'p.example' }] })

describe('the clock', () => {
  test('a clock that is more than five minutes from the service is a trouble until it is set', async () => {
    const product = await start()
    const ofService = new Date(product.clock.now() - minutes(10)).toUTCString()
    product.service.script(() => true, { body: '{"units": 40}', headers: { date: ofService } })
    expect((await ask(product)).body.type).toContain('wrong-clock')
    expect(await troublesOf(product)).toMatchObject([{ slug: 'clock' }])
    product.clock.advance(-minutes(10))
    expect(await slugsOf(product)).toEqual([])
  })
})

describe('the account', () => {
  test('a frozen account is a trouble until it is unfrozen', async () => {
    const product = await start()
    await product.call('POST', '/budgets/account/freeze', { body: { reason: 'restored' } })
    const [trouble] = await troublesOf(product)
    expect(trouble).toMatchObject({
      slug: 'account-frozen',
      sentence: 'The account is frozen since 20 Nov 2026 10:00 UTC, so no update starts.',
      since: '2026-11-20T10:00:00.000Z',
    })
    await product.call('POST', '/budgets/account/unfreeze', { body: { reason: 'reconciled' } })
    expect(await slugsOf(product)).toEqual([])
  })
})

describe('the machine', () => {
  test.each<[string, Partial<MachineFacts>, string]>([
    ['disk', { disk: 'full' }, 'The disk of the ledger is full.'],
    ['disk', { disk: 'read-only' }, 'The disk of the ledger is read-only.'],
    ['disk', { disk: 'failing' }, 'The disk of the ledger fails.'],
    ['sweep-late', { sweptAt: Date.parse('2026-11-20T10:00:00Z') }, 'The last sweep ended 20 Nov 2026 10:00 UTC.'],
    ['set-aside', { setAside: 1 }, '1 change was not passed on, so updates may wait and messages may be missing.'],
  ])('%s is a trouble as long as the machine says so: %j', async (slug, facts, sentence) => {
    let now: MachineFacts = unknownFacts
    const product = await start({ machine: async () => now })
    expect(await slugsOf(product)).toEqual([])
    now = { ...unknownFacts, ...facts }
    product.clock.advance(minutes(12))
    expect(await troublesOf(product)).toMatchObject([{ slug, sentence }])
    now = { ...unknownFacts, sweptAt: product.clock.now() }
    expect(await slugsOf(product)).toEqual([])
  })

  test('a trouble without a beginning of its own begins when it is first seen, and again after it ended', async () => {
    let now: MachineFacts = { ...unknownFacts, disk: 'full' }
    const product = await start({ machine: async () => now })
    // Each reading moves the clock by a minute.
    const sinceOf = async () => (await troublesOf(product)).map(({ since }) => since)
    expect(await sinceOf()).toEqual(['2026-11-20T10:01:00.000Z'])
    product.clock.advance(minutes(12))
    expect(await sinceOf()).toEqual(['2026-11-20T10:01:00.000Z'])
    now = unknownFacts
    product.clock.advance(minutes(12))
    expect(await sinceOf()).toEqual([])
    now = { ...unknownFacts, disk: 'failing' }
    product.clock.advance(minutes(12))
    expect(await sinceOf()).toEqual(['2026-11-20T10:40:00.000Z'])
  })

  test('a sweep is not late in the first minutes of a process', async () => {
    const machine = async () => ({ ...unknownFacts, sweptAt: Date.parse('2026-11-19T10:00:00Z') })
    const product = await start({ machine })
    expect(await slugsOf(product)).toEqual([])
    product.clock.advance(minutes(10))
    expect(await slugsOf(product)).toEqual(['sweep-late'])
  })

  test('a backup is late after 26 hours, but a ledger of the stand-in needs none', async () => {
    const begun = Date.parse('2026-11-20T10:00:00Z')
    const facts = (backedUpAt: number | null) => async () => ({ ...unknownFacts, setAside: 0, backedUpAt })
    const real = { LEDGER_SERVICE: 'https://service.example/v3' }
    const late = async (product: Product, after: number) => {
      expect(await slugsOf(product)).toEqual([]) // The first request begins the ledger.
      product.clock.advance(after)
      return (await troublesOf(product)).map(({ sentence }) => sentence)
    }
    expect(await late(await start({ env: real, machine: facts(null) }), hours(25))).toEqual([])
    const never = await start({ env: real, machine: facts(null) })
    expect(await late(never, hours(26))).toEqual(['There is no backup yet.'])
    const old = await start({ env: real, machine: facts(begun) })
    expect(await late(old, hours(26))).toEqual(['The last backup is of 20 Nov 2026 10:00 UTC.'])
    expect(await late(await start({ machine: facts(begun) }), hours(26))).toEqual([])
  })
})

describe('plans', () => {
  const plan = { name: 'night', kind: 'ranking', projects: ['a'], schedule: 'cron(0 12 * * ? *)' }
  const sweep = (product: Product) => product.triggers.sweep(product.endsAt())

  test('a plan that was due and did not start is a trouble until it is run', async () => {
    const product = await start({ plans: [plan] })
    await sweep(product)
    product.clock.set('2026-11-20T12:09:00Z')
    await sweep(product)
    expect(await slugsOf(product)).toEqual([])
    product.clock.set('2026-11-20T12:10:30Z')
    await sweep(product)
    expect(await troublesOf(product)).toMatchObject([
      { slug: 'plan-not-fired', sentence: 'The plan night was due 20 Nov 2026 12:00 UTC and did not start.' },
    ])
    product.clock.advance(days(1))
    await sweep(product)
    expect(await troublesOf(product)).toMatchObject([{ since: '2026-11-20T12:00:00.000Z' }])
    await product.triggers.handle({ plan: 'night', time: '2026-11-21T12:00:00Z' }, product.endsAt())
    await sweep(product)
    expect(await slugsOf(product)).toEqual([])
  })

  test('a new process keeps what an earlier one noted, and looks for no other time before its own start', async () => {
    const noon = { ...plan, name: 'noon', schedule: 'cron(5 12 * * ? *)' }
    const product = await start({ plans: [plan, noon] })
    await product.call('POST', '/plans/noon/pause', { body: { reason: 'holiday' } })
    product.clock.set('2026-11-20T12:15:30Z')
    await sweep(product)
    await product.call('POST', '/plans/noon/resume', { body: { reason: 'back' } })
    product.clock.advance(minutes(30))
    await product.startProcess().triggers.sweep(product.endsAt())
    expect((await troublesOf(product)).map(({ sentence }) => sentence)).toEqual([
      'The plan night was due 20 Nov 2026 12:00 UTC and did not start.',
    ])
  })

  const hourly = { ...plan, name: 'hourly', schedule: 'rate(1 hour)' }

  test.each([
    ['a machine, which fires its rates itself', async () => unknownFacts, ['plan-not-fired']],
    ['AWS, which alone knows the times of its rates', undefined, []],
  ])('a rate that did not fire is a trouble on %s', async (_, machine, expected) => {
    const product = await start({ plans: [hourly], ...(machine && { machine }) })
    product.clock.set('2026-11-20T11:09:00Z')
    await sweep(product)
    expect(await slugsOf(product)).toEqual([])
    product.clock.set('2026-11-20T11:10:30Z')
    await sweep(product)
    expect(await slugsOf(product)).toEqual(expected)
    await product.triggers.handle({ plan: 'hourly', time: '2026-11-20T11:00:00Z' }, product.endsAt())
    await sweep(product)
    expect(await slugsOf(product)).toEqual([])
  })

  test('a plan that started, is paused, or is newer than its time is no trouble', async () => {
    const product = await start({ plans: [plan, { ...plan, name: 'off', enabled: false }] })
    product.clock.set('2026-11-20T12:00:00Z')
    await product.triggers.handle({ plan: 'night', time: '2026-11-20T12:00:00Z' }, product.endsAt())
    product.clock.set('2026-11-20T12:30:00Z')
    await sweep(product)
    await product.startProcess().triggers.sweep(product.endsAt())
    expect(await slugsOf(product)).toEqual([])
    await product.call('POST', '/plans/night/pause', { body: { reason: 'holiday' } })
    product.clock.set('2026-11-21T12:30:00Z')
    await sweep(product)
    expect(await slugsOf(product)).toEqual([])
  })
})

describe('options of a deployment', () => {
  const deployed = (states: Partial<DeployedOptions>): Partial<GuardSettings> => ({
    DEPLOYED_OPTIONS: {
      alarmEmail: 'missing',
      domain: 'missing',
      awsBudget: 'missing',
      reserve: 'missing',
      ...states,
    },
  })
  const sweepOf = (product: Product, states: Partial<DeployedOptions> | null) =>
    product.startProcess(states === null ? {} : deployed(states)).triggers.sweep(product.endsAt())
  const lost = async (product: Product) =>
    (await troublesOf(product)).map(({ slug, sentence, since }) => `${slug} ${since} ${sentence}`)

  test('an option that an earlier deployment had is a trouble until a deployment has it again', async () => {
    const product = await start()
    await sweepOf(product, { alarmEmail: 'given', reserve: 'given' })
    expect(await lost(product)).toEqual([])
    const at = new Date(product.clock.now()).toISOString()
    await sweepOf(product, { reserve: 'given' })
    const expected = `option-lost ${at} The last deployment lost the option alarmEmail.`
    expect(await lost(product)).toEqual([expected])
    expect((await troublesOf(product))[0]?.remedy).toContain('-c without=<option>')
    await sweepOf(product, { domain: 'given', reserve: 'given' })
    expect(await lost(product)).toEqual([expected])
    await sweepOf(product, null)
    expect(await lost(product)).toEqual([expected])
    await sweepOf(product, { alarmEmail: 'given', domain: 'given', reserve: 'given' })
    expect(await lost(product)).toEqual([])
    await sweepOf(product, {})
    expect((await lost(product)).map((each) => each.split(' ').at(-1))).toEqual(['alarmEmail.', 'domain.', 'reserve.'])
  })

  test('a deployment without an option on purpose ends the trouble, also for later deployments', async () => {
    const product = await start()
    await sweepOf(product, { alarmEmail: 'given', awsBudget: 'given' })
    await sweepOf(product, {})
    expect(await slugsOf(product)).toEqual(['option-lost', 'option-lost'])
    await sweepOf(product, { awsBudget: 'unwanted' })
    expect((await lost(product)).join()).toMatch(/^\S+ \S+ The last deployment lost the option alarmEmail\.$/)
    await sweepOf(product, { alarmEmail: 'unwanted', awsBudget: 'unwanted' })
    expect(await lost(product)).toEqual([])
    await sweepOf(product, {})
    expect(await lost(product)).toEqual([])
  })

  test('an option that was never there is not lost, and a trouble of another kind stays', async () => {
    const product = await start()
    product.service.script(() => true, { status: 401 })
    await ask(product)
    await sweepOf(product, {})
    await sweepOf(product, { domain: 'given' })
    expect(await slugsOf(product)).toEqual(['service-token'])
    await sweepOf(product, {})
    expect(await slugsOf(product)).toEqual(['service-token', 'option-lost'])
  })

  test('the ledger is written only by the first sweep of a deployment that changes its options', async () => {
    const store = createMemoryStore()
    let writes = 0
    const product = await start({
      store: {
        ...store,
        transact: (given, ...rest) => {
          if (given.some((write) => JSON.stringify(write).includes('trouble#'))) writes++
          return store.transact(given, ...rest)
        },
      },
    })
    const counts: number[] = []
    for (const states of [{}, { domain: 'given' }, { domain: 'given' }, {}, {}, { domain: 'unwanted' }, {}] as const) {
      await sweepOf(product, states)
      counts.push(writes)
    }
    expect(counts).toEqual([0, 1, 1, 2, 2, 3, 3])
  })

  test('the functions read the text that the stack writes, and refuse any other', () => {
    const states = { alarmEmail: 'given', domain: 'missing', awsBudget: 'unwanted', reserve: 'given' } as const
    expect(parseOptions(toOptionsText(states))).toEqual(states)
    for (const text of ['', 'alarmEmail', 'alarmEmail=given', 'alarmEmail=yes domain=no awsBudget=no reserve=no'])
      expect(parseOptions(text)).toBeUndefined()
  })
})

describe('GET /ready', () => {
  const ready = async (product: Product) => {
    product.clock.advance(minutes(1))
    const { status, body } = await product.call('GET', '/ready', { token: null })
    return [status, body.detail ?? body.status]
  }

  test('is 200 without a token while the process can work, also with a frozen account and a refused token', async () => {
    const product = await start()
    expect(await ready(product)).toEqual([200, 'ready'])
    await product.call('POST', '/budgets/account/freeze', { body: { reason: 'restored' } })
    product.service.script(() => true, { status: 401 })
    await ask(product)
    expect(await ready(product)).toEqual([200, 'ready'])
  })

  test('is 503 with the sentence of the disk until it can be written', async () => {
    let disk: MachineFacts['disk'] = 'full'
    const product = await start({ machine: async () => ({ ...unknownFacts, disk }) })
    const detail = 'The disk of the ledger is full. Make room on the disk of DATA_DIR, or make it writable.'
    expect(await ready(product)).toEqual([503, detail])
    disk = null
    expect(await ready(product)).toEqual([200, 'ready'])
  })

  test('is 503 while a secret cannot be read', async () => {
    const product = await start({ secrets: {} })
    expect(await ready(product)).toEqual([503, expect.stringMatching(/^A secret cannot be read\./)])
  })

  test('is 503 while the ledger cannot be read', async () => {
    const store = createMemoryStore()
    let fails = false
    const get = async (...of: Parameters<typeof store.get>) => {
      if (fails) throw new LedgerUnavailable('DynamoDB does not answer')
      return store.get(...of)
    }
    const product = await start({ store: { ...store, get } })
    expect(await ready(product)).toEqual([200, 'ready'])
    fails = true
    expect(await ready(product)).toEqual([503, expect.stringMatching(/^The ledger cannot be read\./)])
    fails = false
    expect(await ready(product)).toEqual([200, 'ready'])
  })

  test('is 503 while the clock is wrong, and is ready as soon as it is set', async () => {
    const product = await start()
    const ofService = new Date(product.clock.now() - minutes(10)).toUTCString()
    product.service.script(() => true, { body: '{"units": 40}', headers: { date: ofService } })
    await ask(product)
    expect(await ready(product)).toEqual([503, expect.stringContaining('by the clock of this machine')])
    product.clock.advance(-minutes(10))
    expect(await ready(product)).toEqual([200, 'ready'])
  })

  test('looks once in ten seconds', async () => {
    let looks = 0
    const machine = async () => {
      looks++
      return unknownFacts
    }
    const product = await start({ machine })
    const call = () => product.call('GET', '/ready', { token: null })
    await Promise.all([call(), call()])
    await call()
    expect(looks).toBe(1)
    product.clock.advance(10_000)
    await call()
    expect(looks).toBe(2)
  })
})
