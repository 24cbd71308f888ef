import { describe, expect, onTestFinished, test } from 'vitest'
import { examineService } from '../../../infra/local/commands/doctor/service.ts'
import { guardSettings } from '../../../shared/guard/options.ts'
import { parseSettings } from '../../../shared/platform/settings.ts'
import { json, serviceToken } from '../../support/product.ts'
import { type Answer, type Recorded, startScriptedService } from '../../support/scripted-service.ts'
import { startTestSecrets } from '../../support/secrets.ts'

interface Answers {
  readonly estimate?: Answer
  readonly dates?: Answer
}

async function examine(answers: Answers, env: Record<string, string> = {}, project = 'acme', id?: string) {
  const fallback = ({ url }: Recorded): Answer => {
    if (url.endsWith('/projects')) return json({ projects: [{ name: 'acme' }] })
    if (url.endsWith('/estimate')) return answers.estimate ?? json({ units: 6 })
    return answers.dates ?? json({ dates: ['2026-11-13'] })
  }
  const service = await startScriptedService({ fallback })
  const secrets = await startTestSecrets({ 'unit-guard/service-token': serviceToken })
  onTestFinished(() => service.close())
  onTestFinished(() => secrets.close())
  const settings = parseSettings(guardSettings, {
    TABLE_NAME: 't',
    TRACKING_BASE_URL: service.baseUrl,
    SECRETS_ENDPOINT: secrets.endpoint,
    ...env,
  })
  const found = await examineService(settings, { project, id })
  expect(service.requests.filter(({ url }) => url.includes('/run'))).toEqual([])
  return found
}

const cache =
  'look at what stands between Unit Guard and the service (a proxy or CDN): it adds the header Age, and must pass these requests on'

describe('the doctor on estimates', () => {
  test.each<[string, unknown, Record<string, string>, string, readonly string[]]>([
    ['a price', { data: { units: 6 } }, {}, 'ranking estimate: 6 units, read by units', []],
    [
      'a sign of failure',
      { response_code: 5, units: 6 },
      {},
      'ranking estimate: unreadable (the answer has response_code 5 at /response_code)',
      [
        'see why your service answers with response_code 5 at /response_code; if that is no failure, set ANSWERS_WELL=/response_code=5',
      ],
    ],
    [
      'a sign that a setting names',
      { response_code: 5, units: 6 },
      { ANSWERS_WELL: '/response_code=5' },
      'ranking estimate: 6 units, read by units',
      [],
    ],
    [
      'a sign that the pointer overrides',
      { response_code: 5, data: { units: 6 } },
      { ESTIMATE_POINTER_RANKING: '/data/units', ESTIMATE_POINTER_DIFFICULTY: '/data/units' },
      'ranking estimate: 6 units, read by /data/units; it has response_code 5 at /response_code, which the pointer overrides',
      [],
    ],
    [
      'no well-known name',
      { needed: 6, left: 900 },
      {},
      'ranking estimate: unreadable (no well-known name of units)',
      [
        'set the path of the units in that body: ESTIMATE_POINTER_RANKING=/needed  or  ESTIMATE_POINTER_RANKING=/left',
        'set the path of the units in that body: ESTIMATE_POINTER_DIFFICULTY=/needed  or  ESTIMATE_POINTER_DIFFICULTY=/left',
      ],
    ],
    [
      'no whole number at all',
      { units: 6.5 },
      {},
      'ranking estimate: unreadable (units is not a non-negative integer)',
      [
        'see what the service answers: no setting reads the ranking estimate',
        'see what the service answers: no setting reads the keyword-difficulty estimate',
      ],
    ],
    [
      'a price of 0',
      { units: 0 },
      {},
      'ranking estimate: 0 units, read by units',
      [
        'see why the ranking estimate is 0 units, for which nothing is started; if updates may really cost nothing, set ZERO_PRICE=free',
        'see why the keyword-difficulty estimate is 0 units, for which nothing is started; if updates may really cost nothing, set ZERO_PRICE=free',
      ],
    ],
    ['a price of 0 that is free', { units: 0 }, { ZERO_PRICE: 'free' }, 'ranking estimate: 0 units, read by units', []],
  ])('the doctor sees %s in an estimate', async (_what, body, env, line, toDo) => {
    const found = await examine({ estimate: json(body) }, env)
    expect(found.lines).toContain(line)
    expect([...new Set(found.toDo)]).toEqual(toDo)
  })

  test('the doctor says what to look at if a cache answered', async () => {
    const cached = (body: unknown): Answer => ({ body: JSON.stringify(body), headers: { age: '900' } })
    const found = await examine({ estimate: cached({ units: 6 }), dates: cached({ dates: ['2026-11-13'] }) })
    expect(found.lines).toContain('ranking estimate: unreadable (answered by a cache)')
    expect(found.lines).toContainEqual(expect.stringContaining('dates: unreadable (answered by a cache)'))
    expect([...new Set(found.toDo)]).toEqual([cache])
  })

  test('the project’s own name is no sign of a failure for the doctor', async () => {
    const body = json({ status: 'limit.example is priced', units: 6 })
    // The estimate of a keyword-difficulty update is asked by the id, and may state the name.
    expect((await examine({ estimate: body }, {}, 'limit.example', '77')).toDo).toEqual([])
    expect((await examine({ estimate: body })).toDo).not.toEqual([])
  })
})

describe('the doctor on dates and runs', () => {
  test('the doctor names the setting that reads dates with a sign, and says when no setting helps', async () => {
    const dates = async (body: unknown) =>
      (await examine({ dates: json(body) })).lines.find((line) => line.startsWith('dates: '))
    expect(await dates({ dates: ['2026-11-13'], code: 9 })).toMatch(
      /; if that is no failure, set ANSWERS_WELL=\/code=9$/,
    )
    expect(await dates({})).toMatch(/^dates: unreadable \(no date in the body\): .*; no setting helps$/)
    expect(await dates({ dates: ['2026-11-13'] })).toBe('dates: 1 can be read, the latest is 2026-11-13')
  })

  const runLines = async (env: Record<string, string>) =>
    (await examine({}, env)).lines.filter((line) => /^(answers|units) of a run|^no run/.test(line))
  const place =
    'a figure at the place of the figure in the estimate, if it is from the hold up to ten times the hold; else the hold'
  const unconfirmed =
    'no run is sent here, so how your service answers one is not confirmed; try an answer that you have: npm run doctor -- --answer <file> --call run'

  test('the doctor says how runs are read, and that this is not confirmed', async () => {
    expect(await runLines({})).toEqual([
      'answers of a run, both kinds: a 2xx without a sign of a failure ran; every other 2xx is in doubt',
      `units of a run, both kinds: ${place}`,
      unconfirmed,
    ])
    expect(
      await runLines({ RUN_STARTED: '/ok=true', RUN_REFUSED_RANKING: '/code=26', RUN_POINTER_RANKING: '/cost' }),
    ).toEqual([
      'answers of a run, ranking: a 2xx that RUN_STARTED names ran, one that RUN_REFUSED names did not; every other 2xx is in doubt',
      'answers of a run, keyword-difficulty: a 2xx that RUN_STARTED names ran; every other 2xx is in doubt',
      'units of a run, ranking: /cost',
      `units of a run, keyword-difficulty: ${place}`,
      unconfirmed,
    ])
  })
})
