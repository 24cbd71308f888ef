import { describe, expect, test } from 'vitest'
import { days, hours } from '../../support/clock.ts'
import { json, serviceToken, startProduct } from '../../support/product.ts'
import { createMemoryStore } from '../../support/store/memory-store.ts'

type Options = NonNullable<Parameters<typeof startProduct>[0]>

/** Nights with the known projects `site` and `shop`; `dates` has the service's dates of each project. */
async function startNights(options: Options = {}) {
  const dates: Record<string, string[]> = { site: ['2026-11-01', '2026-11-19'], shop: [] }
  const product = await startProduct({
    store: createMemoryStore(),
    slack: true,
    service: ({ url }) => {
      const [, project = ''] = /\/projects\/([^/]+)\/dates/.exec(url) ?? []
      return project in dates ? json({ dates: dates[project] }) : undefined
    },
    ...options,
  })
  const projects = [{ name: 'site', id: '7' }, { name: 'shop' }]
  await product.call('PUT', '/budgets/acme', { body: { limits: [{ window: 'month', units: 5_000 }], projects } })
  const night = async (process = product as Pick<typeof product, 'triggers'>) => {
    await process.triggers.handle({ task: 'digest' }, product.endsAt())
    await product.deliver()
    return product.slack.news().filter(({ text }) => !/^\d{4}-/.test(text))
  }
  const nextNight = async () => {
    product.clock.advance(days(1))
    return (await night()).map(({ text }) => text)
  }
  return { product, dates, night, nextNight }
}

const elsewhere = (projects: string) => `The vendor has new data for ${projects} from updates outside Unit Guard.`

describe('runs outside the guard', () => {
  test('the first reading of dates announces nothing, and a later run by hand is announced once with a remedy', async () => {
    const { product, dates, night, nextNight } = await startNights()
    expect(await night()).toEqual([])
    expect(await nextNight()).toEqual([])
    dates.site?.push('2026-11-21')
    product.clock.advance(days(1))
    const [told, ...more] = await night()
    expect([told?.text, more]).toEqual([elsewhere('1 project'), []])
    const read = JSON.stringify(told?.body)
    expect(read).toContain('• `site`: 2026-11-21')
    expect(read).toContain('/units reconcile &lt;units left&gt; &lt;reason&gt;')
    expect(product.logged.some((line) => line.includes('"foreign-data"'))).toBe(true)
    // A second delivery by two processes, and then the next night.
    product.clock.advance(hours(1))
    expect(await night(product.startProcess())).toEqual([])
    expect(await nextNight()).toEqual([])
    expect(product.seen('run')).toEqual([])
  })

  test('our own update is not foreign, also from the gateway, in doubt or a day later, but a run by hand is', async () => {
    const { product, dates, night, nextNight } = await startNights()
    await night()
    await product.update({ kind: 'ranking', project: 'site' })
    product.service.script(({ url }) => url.includes('/shop/run'), { status: 503 })
    await product.call('GET', '/v3/on-demand/shop/run')
    dates.site?.push('2026-11-20')
    dates.shop?.push('2026-11-21')
    expect(await nextNight()).toEqual([
      expect.stringMatching(/^It is not known whether the ranking update of shop ran/),
    ])
    product.clock.advance(days(4))
    await night()
    dates.site?.push('2026-11-25')
    expect(await nextNight()).toEqual([elsewhere('1 project')])
  })

  test('our own update by the id or another spelling of a listed project is not foreign', async () => {
    const { product, dates, night, nextNight } = await startNights()
    await night()
    expect((await product.update({ kind: 'ranking', project: '7' })).status).toBe(201)
    expect((await product.update({ kind: 'ranking', project: 'SHOP' })).status).toBe(201)
    dates.site?.push('2026-11-20')
    dates.shop?.push('2026-11-21')
    expect(await nextNight()).toEqual([])
  })

  test('an update that did not run or was refused explains no new date', async () => {
    const { product, dates, night, nextNight } = await startNights({ units: { shop: 9_000 } })
    await night()
    product.service.script(({ url }) => url.includes('/site/run'), { status: 429 })
    expect((await product.update({ kind: 'ranking', project: 'site' })).status).toBe(502)
    expect((await product.update({ kind: 'ranking', project: 'shop' })).status).toBe(402)
    dates.site?.push('2026-11-20')
    dates.shop?.push('2026-11-20')
    expect(await nextNight()).toEqual([elsewhere('2 projects')])
  })

  test('a failed reading of dates is repeated the next night without loss', async () => {
    const { product, dates, night, nextNight } = await startNights()
    await night()
    dates.site?.push('2026-11-21')
    dates.shop?.push('2026-11-21')
    product.service.script(({ url }) => url.includes('/site/dates'), { status: 500 })
    expect(await nextNight()).toEqual([elsewhere('1 project')])
    product.service.script(({ url }) => url.includes('/site/dates'), json({ dates: dates.site }))
    expect(await nextNight()).toEqual([elsewhere('1 project')])
  })

  test('a first reading that fails remembers nothing', async () => {
    const { product, dates, night, nextNight } = await startNights()
    product.service.script(({ url }) => url.includes('/site/dates'), { status: 500 })
    expect(await night()).toEqual([])
    product.service.script(({ url }) => url.includes('/site/dates'), json({ dates: dates.site }))
    expect(await nextNight()).toEqual([])
    product.service.script(
      ({ url }) => url.includes('/site/dates'),
      json({ dates: [...(dates.site ?? []), '2026-11-21'] }),
    )
    expect(await nextNight()).toEqual([elsewhere('1 project')])
  })

  test('our own update is known even after many nights without a reading', async () => {
    const { product, dates, night, nextNight } = await startNights()
    await night()
    product.clock.advance(hours(1))
    await product.update({ kind: 'ranking', project: 'site' })
    product.service.script(({ url }) => url.includes('/site/dates'), { status: 500 })
    for (let count = 0; count < 5; count++) expect(await nextNight()).toEqual([])
    dates.site?.push('2026-11-20')
    dates.shop?.push('2026-11-26')
    product.service.script(({ url }) => url.includes('/site/dates'), json({ dates: dates.site }))
    expect(await nextNight()).toEqual([elsewhere('1 project')])
  })

  test('an update with data a night later is not foreign, and explains no date of another project', async () => {
    const { product, dates, night, nextNight } = await startNights()
    await night()
    product.clock.advance(hours(1))
    await product.update({ kind: 'ranking', project: 'site' })
    expect(await nextNight()).toEqual([])
    dates.site?.push('2026-11-21')
    expect(await nextNight()).toEqual([])
    dates.shop?.push('2026-11-21')
    expect(await nextNight()).toEqual([elsewhere('1 project')])
  })

  test('a reading of many new dates announces the latest twenty', async () => {
    const { product, dates } = await startNights()
    const look = async () => (await product.guard.jobs()).findRunsOutside(product.endsAt())
    expect(await look()).toEqual([])
    const december = Array.from({ length: 25 }, (_, index) => `2026-12-${String(index + 1).padStart(2, '0')}`)
    dates.site?.push(...december)
    expect(await look()).toEqual([{ project: 'site', dates: december.slice(5) }])
    const logged = product.logged.map((line) => JSON.parse(line)).filter(({ event }) => event === 'foreign-data')
    expect(logged).toMatchObject([{ level: 'error', projects: 1, first: [{ project: 'site' }] }])
  })

  test('a keyword-difficulty update explains no date, but an update that a person called not run may', async () => {
    const { product, dates } = await startNights()
    const look = async () => (await product.guard.jobs()).findRunsOutside(product.endsAt())
    expect(await look()).toEqual([])
    await product.update({ kind: 'keyword-difficulty', project: 'site' })
    product.service.script(({ url }) => url.includes('/shop/run'), { status: 503 })
    const { body } = await product.update({ kind: 'ranking', project: 'shop' })
    product.clock.advance(hours(1))
    const outcome = { outcome: 'did-not-run', reason: 'looked it up' }
    const resolved = await product.call('POST', `/updates/${body.updates[0].id}/resolve`, { body: outcome })
    expect(resolved.body.state).toBe('released')
    for (const project of ['site', 'shop']) dates[project]?.push('2026-11-20')
    expect(await look()).toEqual([{ project: 'site', dates: ['2026-11-20'] }])
  })

  test('a reading has the dates of owned and planned ranking projects, but no dates near its end', async () => {
    const plan = { name: 'night', kind: 'ranking', projects: ['planned', 'site'], schedule: 'cron(0 5 * * ? *)' }
    const other = { ...plan, name: 'other', kind: 'keyword-difficulty', projects: ['1001'] }
    const { product } = await startNights({ plans: [plan, other] })
    // The longest time of an answer, plus twelve seconds for the rest.
    await (await product.guard.jobs()).findRunsOutside(product.clock.now() + 32_000)
    expect(product.seen('dates')).toEqual([])
    await (await product.guard.jobs()).findRunsOutside(product.clock.now() + 32_001)
    const asked = product.seen('dates').map(({ url }) => /projects\/([^/]+)\/dates/.exec(url)?.[1])
    expect(asked.toSorted()).toEqual(['planned', 'shop', 'site'])
  })

  test('a long history of dates, or a history with added older dates, is not announced', async () => {
    const { dates, night, nextNight } = await startNights()
    const daily = Array.from({ length: 500 }, (_, index) =>
      new Date(Date.UTC(2025, 6, 1 + index)).toISOString().slice(0, 10),
    )
    dates.site = daily
    await night()
    expect(await nextNight()).toEqual([])
    dates.site = ['2020-01-01', ...daily]
    expect(await nextNight()).toEqual([])
  })

  test('many updates of other projects hide none of our projects', async () => {
    const dates = ['2026-11-19']
    const product = await startProduct({
      store: createMemoryStore(),
      stream: false,
      service: ({ url }) => (url.endsWith('/site/dates') ? json({ dates }) : undefined),
    })
    await product.call('PUT', '/budgets/none', { body: { limits: [{ window: 'month', units: 0 }] } })
    await product.call('PUT', '/budgets/acme', {
      body: { limits: [{ window: 'month', units: 90 }], projects: [{ name: 'site' }] },
    })
    const look = async () => (await product.guard.jobs()).findRunsOutside(product.endsAt())
    expect(await look()).toEqual([])
    await product.update({ kind: 'ranking', project: 'site' })
    product.clock.advance(1)
    for (let round = 0; round < 60; round++) {
      const projects = Array.from({ length: 20 }, (_, index) => `p-${round}-${index}`)
      await product.update({ kind: 'ranking', projects, budget: 'none' })
    }
    dates.push('2026-11-20', '2026-11-23')
    product.clock.advance(days(3))
    expect(await look()).toEqual([{ project: 'site', dates: ['2026-11-23'] }])
  })
})

describe('the expiry of the service’s token', () => {
  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const ending = (exp: unknown) => `${encode({ alg: 'none' })}.${encode({ exp })}.c2ln`
  const end = Date.parse('2026-12-10T10:00:00Z') / 1000

  async function withToken(token: string) {
    const nights = await startNights()
    nights.product.secrets.values['unit-guard/service-token'] = token
    const at = async (rfc3339: string) => {
      nights.product.clock.set(rfc3339)
      return (await nights.night()).map(({ text }) => text)
    }
    return { ...nights, at }
  }

  const ends = (when: string) => [expect.stringMatching(`^The token of the tracking service ends \\*?${when}\\*?, on `)]

  test('the service’s token is announced 14 days before it ends, daily in the last week, and one time after', async () => {
    const { product, at } = await withToken(ending(end))
    expect(await at('2026-11-25T10:00:00Z')).toEqual([])
    expect(await at('2026-11-26T09:59:59Z')).toEqual([])
    expect(await at('2026-11-26T10:00:00Z')).toEqual(ends('in 14 days'))
    expect(await at('2026-11-27T10:00:00Z')).toEqual([])
    expect(await at('2026-12-02T10:00:00Z')).toEqual([])
    expect(await at('2026-12-03T10:00:00Z')).toEqual(ends('in 7 days'))
    expect(await at('2026-12-03T11:00:00Z')).toEqual(ends('in 6 days'))
    expect(await at('2026-12-09T10:00:00Z')).toEqual(ends('in 1 day'))
    expect(await at('2026-12-09T10:00:01Z')).toEqual(ends('in less than a day'))
    expect(await at('2026-12-10T09:59:59Z')).toEqual([])
    expect(await at('2026-12-10T10:00:01Z')).toEqual([
      expect.stringMatching(/^The token of the tracking service \*?has ended\*?, on /),
    ])
    expect(await at('2026-12-11T10:00:00Z')).toEqual([])
    const logged = product.logged.filter((line) => line.includes('"service-token-expires"'))
    expect(logged.map((line) => JSON.parse(line).daysLeft)).toEqual([14, 13, 8, 7, 6, 1, 0, 0, -1, -1])
    expect(JSON.parse(logged[0] ?? '')).toMatchObject({ level: 'error', expiresAt: '2026-12-10T10:00:00.000Z' })
    expect(product.logged.join('')).not.toContain(ending(end))
  })

  test.each([
    ['that is opaque', serviceToken],
    ['without an end', ending(undefined)],
    ['with an end that is text', ending('soon')],
    ['with an end that is a number in quotes', ending(String(Date.parse('2026-11-26T10:00:00Z') / 1000))],
    ['with an end that is not a valid time', ending(1e300)],
    ['with an impossible end', ending(-1e300)],
    ['that is JSON’s null', `a.${encode(null)}.b`],
  ])('a token %s is not announced', async (_what, token) => {
    const { product, at } = await withToken(token)
    expect(await at('2026-11-25T10:00:00Z')).toEqual([])
    expect(product.logged.some((line) => line.includes('token-not-read'))).toBe(false)
  })

  test('a token that cannot be read does not stop the digest or the reading of dates', async () => {
    const { product, dates, night } = await startNights()
    await night()
    product.clock.advance(days(1))
    delete product.secrets.values['unit-guard/service-token']
    dates.site?.push('2026-11-21')
    const process = product.startProcess()
    await process.triggers.handle({ task: 'digest' }, product.endsAt())
    await product.deliver()
    expect(product.slack.news().map(({ text }) => text)[0]).toMatch(/^2026-11-21: /)
    expect(product.logged.some((line) => line.includes('token-not-read'))).toBe(true)
    const unread = product.logged.map((line) => JSON.parse(line)).filter(({ event }) => event === 'no-dates')
    expect(unread).toMatchObject([{ project: 'site' }, { project: 'shop' }])
  })
})
