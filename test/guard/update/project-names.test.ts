import { describe, expect, test } from 'vitest'
import { only, startGuard } from '../../support/guard.ts'

const several = 'name each of them by itself'
const asOne =
  'If it is one project, list it in a budget under exactly this name. For several in one run through the gateway, set PROJECT_SEPARATOR.'
const cooldown = { ranking: 'day', 'keyword-difficulty': 7 * 24 * 3600_000 } as const
const withSeparator = (separator: string) => ({
  parts: { options: { serviceTimeoutMs: 5000, serviceFlightMs: 300_000, cooldown, separator } },
})

describe('a name that the service may read as another project or as several', () => {
  const changesThePath = 'has an empty part, or one of dots alone, which changes the path; name the project itself.'
  const decodedTwice =
    'has a percent-encoded character that a service may decode once more; write the character itself.'

  test.each([
    ...[
      'acme,acme',
      'acme,globex',
      ',acme',
      'acme,',
      'acme，globex',
      'acme﹐globex',
      'p, p',
      'acme%2Cglobex',
      'acme%252cglobex',
    ].map((project) => [project, `${project} may be read as several projects; ${several}. ${asOne}`]),
    ...[
      'x/../acme',
      'x/./acme',
      './acme',
      '/acme',
      'acme/',
      'a//b',
      'x\\..\\acme',
      'x/．．/acme',
      'x／‥／acme',
      '%2e%2e',
      'x%2f..%2facme',
    ].map((project) => [project, `${project} ${changesThePath}`]),
    ...['x/..;a/acme', 'x/ .. /acme', ' ', '/', '%2F', '%252e%252e%252facme'].map((project) => [
      project,
      `${project} ${changesThePath}`,
    ]),
    ...['%61cme', '%2561cme', 'a%00', 'caf%C3%A9', 'a%FF'].map((project) => [project, `${project} ${decodedTwice}`]),
  ])('a name with several readings is refused: %j', async (project = '', detail) => {
    const guard = await startGuard()
    expect((await guard.ask({ projects: [project] })).problem).toEqual({
      slug: 'invalid-request',
      detail,
      members: { errors: [{ path: 'project', message: detail }] },
    })
    const estimate = await guard.guard.estimate(
      { kind: 'ranking', projects: [project] },
      { caller: 'bob', via: 'http' },
    )
    expect(estimate).toMatchObject({ slug: 'invalid-request', detail })
    expect([guard.sent, (await guard.guard.ledger.updates({}, 10)).rows]).toEqual([[], []])
  })

  test.each([
    'a/b',
    '100%',
    '100%zz',
    '...',
    'a.b',
    "o'hara (old)!*",
    'a;b',
    'a+b',
    'a&b=c',
    '#',
    '?x',
    'a، b',
    'a、b',
    'x..y',
  ])('a name with one reading runs: %j', async (project) => {
    const guard = await startGuard()
    expect(only(await guard.ask({ projects: [project] })).state).toBe('settled')
  })

  test.each([
    ['a+b', 'A + in a path may be read as a blank; write %2B for a+b, or %20 for a blank.'],
    ['a;b', 'A ; in a path may be read as the end of the name; write %3B for a;b.'],
  ])('a name that is raw in a path of the gateway is refused: %j', async (segment, detail) => {
    const guard = await startGuard()
    const target = { segment, search: '' }
    expect((await guard.ask({ projects: [segment], target })).problem).toMatchObject({
      slug: 'invalid-request',
      detail,
    })
    const encoded = { segment: encodeURIComponent(segment), search: '' }
    expect(only(await guard.ask({ projects: [segment], target: encoded })).state).toBe('settled')
  })

  test('a queued update with a comma in its recorded name is refused when it starts', async () => {
    const guard = await startGuard()
    const queued = only(await guard.ask({ projects: ['acme'] }, {}, { respondAsync: true }))
    for (const [name, item] of guard.items)
      if (item.project === 'acme') guard.items.set(name, { ...item, project: 'acme,globex' })
    const update = await guard.guard.start(queued.id, guard.clock.now() + 60_000)
    expect([update?.state, update?.problem?.slug, guard.sent]).toEqual(['refused', 'invalid-request', []])
  })
})

describe('a project whose name has a comma', () => {
  const listed = { projects: [{ name: 'Smith, Jones & Co', id: '77' }] }

  test('a project with a comma in its name runs if a budget lists exactly that name', async () => {
    const guard = await startGuard()
    await guard.budget('law', listed)
    expect(only(await guard.ask({ projects: ['Smith, Jones & Co'] }))).toMatchObject({
      state: 'settled',
      budget: 'law',
    })
  })

  test.each(['smith, jones & co', 'Smith,Jones & Co', '77,77'])(
    'a project whose name has a comma is refused in another spelling: %j',
    async (project) => {
      const guard = await startGuard()
      await guard.budget('law', listed)
      expect((await guard.ask({ projects: [project] })).problem?.slug).toBe('invalid-request')
    },
  )

  test('a project with a comma in its name is refused if one of its parts is listed by itself', async () => {
    const guard = await startGuard()
    await guard.budget('law', listed)
    await guard.budget('seo', { projects: [{ name: 'SMITH' }] })
    expect((await guard.ask({ projects: ['Smith, Jones & Co'] })).problem?.slug).toBe('invalid-request')
  })

  test('a project with a comma in its name is refused if the comma separates projects', async () => {
    const guard = await startGuard(withSeparator(','))
    await guard.budget('law', listed)
    expect((await guard.ask({ projects: ['Smith, Jones & Co'] })).problem?.detail).toBe(
      'Smith, Jones & Co names several projects; name each of them by itself.',
    )
  })
})

test.each(['a;b', 'a；b', 'a;', 'a%3Bb'])('another configured separator is refused in a name: %j', async (project) => {
  const guard = await startGuard(withSeparator(';'))
  expect((await guard.ask({ projects: [project] })).problem?.detail).toBe(
    `${project} names several projects; name each of them by itself.`,
  )
  expect(guard.sent).toEqual([])
})
