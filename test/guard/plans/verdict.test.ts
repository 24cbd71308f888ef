import { describe, expect, test } from 'vitest'
import { parsePlans } from '../../../shared/guard/plans-file.ts'
import { leavesInWords } from '../../../shared/reports/plans/verdict.ts'
import { verdictInWords } from '../../../shared/reports/plans/verdict-words.ts'
import { reportsOf } from '../../../shared/reports/reports.ts'
import { startProduct } from '../../support/product.ts'
import { createMemoryStore } from '../../support/store/memory-store.ts'

/** Both projects cost 40 units. It is 20 November, 10:00; the month has ten more nights. */
const night = {
  name: 'night',
  kind: 'ranking',
  projects: ['one', 'two'],
  budget: 'seo',
  schedule: 'cron(0 23 * * ? *)',
}
const month = (units: number) => [{ window: 'month', units }]
const day = (units: number) => [...month(10_000), { window: 'day', units }]

interface Case {
  readonly plan?: object
  readonly others?: readonly object[]
  readonly seo?: object
  readonly account?: object
  readonly caller?: object
  readonly isPriced?: boolean
}

async function start({ plan, others = [], seo, account, caller, isPriced = true }: Case) {
  const product = await startProduct({
    store: createMemoryStore(),
    stream: false,
    units: { dear: 300 },
    plans: [{ ...night, ...plan }, ...others],
  })
  const { call, guard } = product
  if (account) await call('PUT', '/budgets/account', { body: { limits: month(50_000), ...account } })
  await call('PUT', '/budgets/seo', { body: { limits: month(10_000), ...seo } })
  if (caller) await call('PUT', '/callers/schedule:night', { body: caller })
  if (isPriced) await (await guard.jobs()).readPrices(product.endsAt())
  const verdict = async () => {
    const { verdicts } = await (await reportsOf(guard)).upcoming(5)
    const found = verdicts.get('night')
    return found ? verdictInWords(found, 'UTC') : null
  }
  return { product, verdict }
}

const other = { ...night, name: 'other', schedule: 'cron(0 12 * * ? *)' }

describe('the verdict whether a plan will pass', () => {
  test.each<[string, Case, string | null]>([
    ['its budget pays all its nights', { seo: { limits: month(11 * 80) } }, 'yes'],
    [
      'its budget lacks one unit for the last night of the month',
      { seo: { limits: month(11 * 80 - 1) } },
      'until 30 Nov 2026 23:00, then 1 of 2 runs; two does not: seo has too little',
    ],
    [
      'the account lacks units',
      { account: { limits: month(100) } },
      'until 21 Nov 2026 23:00, then account has too little',
    ],
    [
      'its budget pays one of two projects',
      { seo: { limits: month(79) } },
      '1 of 2 runs; two does not: seo has too little',
    ],
    [
      'its budget pays one of three projects',
      { plan: { projects: ['one', 'two', 'three'] }, seo: { limits: month(79) } },
      '1 of 3 runs; two and three do not: seo has too little',
    ],
    [
      'the budget of one of three projects is frozen',
      {
        plan: { projects: ['one', 'two', 'client'], budget: 'account', mayChargeAncestors: true },
        seo: { projects: [{ name: 'client' }], kinds: [] },
      },
      '2 of 3 run; client does not: seo allows no ranking updates',
    ],
    ['its budget pays none', { seo: { limits: month(39) } }, 'no: seo has too little'],
    [
      'it may ask, and its budget lacks units',
      { plan: { whenShort: 'ask' }, seo: { limits: month(79) } },
      '1 of 2 runs; two waits for approval: seo has too little',
    ],
    [
      'it may ask, and its budget pays none',
      { plan: { whenShort: 'ask' }, seo: { limits: month(39) } },
      'asks for approval: seo has too little',
    ],
    [
      'it may ask, and the account lacks units',
      { plan: { whenShort: 'ask' }, account: { limits: month(79) } },
      '1 of 2 runs; two does not: account has too little',
    ],
    [
      'it may ask later',
      { plan: { whenShort: 'ask' }, seo: { limits: month(80) } },
      'until 21 Nov 2026 23:00, then asks for approval: seo has too little',
    ],
    ['limits are only observed', { seo: { limits: month(39), enforce: false } }, 'yes'],
    [
      'another plan takes the units before',
      { others: [other], seo: { limits: month(160) } },
      'until 22 Nov 2026 23:00, then seo has too little',
    ],
    [
      'another plan that is off takes none',
      { others: [{ ...other, enabled: false }], seo: { limits: month(880) } },
      'yes',
    ],
    ['a day pays a night', { seo: { limits: day(80) } }, 'yes'],
    ['a day does not pay a night', { seo: { limits: day(79) } }, '1 of 2 runs; two does not: seo has too little'],
    ['its reserve fits', { plan: { leave: { account: 49_120 } } }, 'yes'],
    [
      'its reserve is reached',
      { plan: { leave: { account: 49_121 } } },
      'until 30 Nov 2026 23:00, then 1 of 2 runs; two does not: account has too little',
    ],
    [
      'its reserve of a day is reached',
      { plan: { leave: { seo: 21 } }, seo: { limits: day(100) } },
      '1 of 2 runs; two does not: seo has too little',
    ],
    [
      'its reserve is all that a budget has',
      { plan: { leave: { account: 50_000 } } },
      'no: it leaves 50,000 of account, which has 50,000 a month',
    ],
    [
      'its reserve is all that a day has',
      { plan: { leave: 100 }, seo: { limits: day(100) } },
      'no: it leaves 100 of seo, which has 100 a day',
    ],
    ['no price is known', { isPriced: false }, 'unknown'],
    [
      'no price is known, and it cannot pass',
      { isPriced: false, plan: { leave: 50_000 } },
      'no: it leaves 50,000 of seo, which has 10,000 a month',
    ],
    ['its kind is not allowed', { seo: { kinds: ['keyword-difficulty'] } }, 'no: seo allows no ranking updates'],
    [
      'one project is too dear for one update',
      { plan: { projects: ['one', 'dear'] }, seo: { perUpdate: 299 } },
      '1 of 2 runs; dear does not: seo allows 299 for one update',
    ],
    [
      'another budget owns its projects',
      { account: { projects: [{ name: 'one' }, { name: 'two' }] } },
      'no: one belongs to account, so it is charged there or to a parent of it, not to seo; two belongs to account, so it is charged there or to a parent of it, not to seo',
    ],
    ['its budget does not exist', { plan: { budget: 'gone' } }, 'no: there is no budget gone'],
    [
      'account refuses unlisted projects',
      { account: { unowned: 'refuse' } },
      'no: account refuses projects that no budget lists',
    ],
    ['it is disabled as a caller', { caller: { disabled: true } }, 'no: plan night is disabled'],
    [
      'its own limit is reached',
      { caller: { limits: month(100) } },
      'until 21 Nov 2026 23:00, then plan night has too little',
    ],
    ['its next run is years away', { plan: { schedule: 'cron(0 5 29 2 ? *)' } }, 'unknown'],
  ])('the verdict of a plan is known if %s', async (_what, given, expected) => {
    const { verdict } = await start(given)
    expect(await verdict()).toBe(expected)
  })

  test('the verdict names a frozen budget, and a paused plan has no verdict', async () => {
    const { product, verdict } = await start({})
    await product.call('POST', '/budgets/seo/freeze', { body: { reason: 'audit' } })
    expect(await verdict()).toBe('no: seo frozen')
    await product.call('POST', '/plans/night/pause', { body: { reason: 'holidays' } })
    expect(await verdict()).toBeNull()
  })

  test('the next run takes no units for a project of a frozen budget', async () => {
    const plan = { projects: ['one', 'client'], budget: 'account', mayChargeAncestors: true }
    const { product } = await start({ plan, seo: { projects: [{ name: 'client' }] } })
    const next = async () => (await (await reportsOf(product.guard)).outlook()).next
    expect(await next()).toMatchObject({ plan: 'night', units: 80, unpriced: 0 })
    await product.call('POST', '/budgets/seo/freeze', { body: { reason: 'audit' } })
    expect(await next()).toMatchObject({ plan: 'night', units: 40, unpriced: 0 })
  })

  test('the verdict counts spent units, but none for a plan that runs in a new month', async () => {
    const { product, verdict } = await start({ plan: { schedule: 'cron(0 5 1 * ? *)' }, seo: { limits: month(80) } })
    await product.update({ kind: 'ranking', project: 'three', budget: 'seo' })
    expect(await verdict()).toBe('yes')
    await product.call('PUT', '/budgets/seo', { body: { limits: month(79) } })
    expect(await verdict()).toBe('1 of 2 runs; two does not: seo has too little')
  })

  test('the verdict uses the charge or the refused price of the last run if a price is missing', async () => {
    const { product, verdict } = await start({ isPriced: false, seo: { limits: month(79) } })
    expect(await verdict()).toBe('unknown')
    await product.triggers.handle({ plan: 'night', time: '2026-11-20T10:00:00Z' }, product.endsAt())
    expect(await verdict()).toBe('no: seo has too little')
    await product.call('PUT', '/budgets/seo', { body: { limits: month(40 + 11 * 80) } })
    expect(await verdict()).toBe('yes')
  })

  test('an enabled plan that leaves more units than a budget has is named', async () => {
    const { product } = await start({})
    const view = await product.guard.ledger.view()
    const leaving = (leave: number, enabled = true, budget = 'seo') =>
      parsePlans(JSON.stringify([{ ...night, leave, enabled, budget }]))
    expect(leavesInWords(view, leaving(10_000, true, 'gone'))).toEqual([])
    expect(leavesInWords(view, leaving(9_999))).toEqual([])
    expect(leavesInWords(view, leaving(10_000, false))).toEqual([])
    expect(leavesInWords(view, leaving(10_000))).toEqual([
      'The plan night leaves 10,000 units of seo to others, but seo has 10,000 a month. None of the plan’s updates can pass. Lower leave in the plans file.',
    ])
  })
})
