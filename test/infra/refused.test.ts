import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { readServedSettings, readSettings } from '../../infra/local/settings.ts'
import { readProps } from '../../infra/options.ts'
import { refuseMisspelt } from '../../shared/platform/misspelt.ts'
import { login, needed, okta, writeIssuers } from '../support/infra/deployment.ts'

const served = {
  TRACKING_BASE_URL: 'https://service.example/v3',
  TRACKING_TOKEN: 'token',
  CALLER_KEY: 'k'.repeat(64),
  DATA_DIR: 'served',
}
const stream = 'arn:aws:dynamodb:eu-central-1:123456789012:table/other/stream/2026-11-20T10:00:00.000'
const opening = { ACCOUNT_UNITS_USED_AT_START: '0', ACCOUNT_RENEWAL_DAY: '1', ACCOUNT_TIME_ZONE: 'UTC' }

/** Settings that say how answers of the service are read. */
const wrongAnswers: readonly [what: string, env: Record<string, string>, sentence: string][] = [
  [
    'a refusal by a value that says nothing',
    { RUN_REFUSED: '/error=quota /ok=0' },
    'RUN_REFUSED: must name values that say why a run was refused; 0 says nothing',
  ],
  [
    'an empty refusal of one kind',
    { RUN_REFUSED_DIFFICULTY: '/error=' },
    'RUN_REFUSED_DIFFICULTY: must name values that say why a run was refused; an empty value says nothing',
  ],
  [
    'a start without a pointer',
    { RUN_STARTED: 'status_code=20100' },
    'RUN_STARTED: must be conditions such as /response_code=26|27, separated by blanks',
  ],
  [
    'a start of one kind without a value',
    { RUN_STARTED_RANKING: '/status_code' },
    'RUN_STARTED_RANKING: must be conditions such as /response_code=26|27, separated by blanks',
  ],
  [
    'a good value with a wrong escape',
    { ANSWERS_WELL: '/status_code=1 /a=%zz' },
    'ANSWERS_WELL: must be conditions such as /response_code=26|27, separated by blanks',
  ],
  ['a free price in other words', { ZERO_PRICE: 'yes' }, 'ZERO_PRICE: must be free, or absent'],
  [
    'a removed setting',
    { EVENT_BUS: 'company' },
    'EVENT_BUS: must be unset: events go to the targets of EVENT_TARGETS alone',
  ],
  ['a misspelt start', { RUN_STARTED_RANKNG: '/ok=true' }, 'RUN_STARTED_RANKNG: is it RUN_STARTED_RANKING?'],
]

describe('settings of answers that cannot be read', () => {
  test.each(wrongAnswers)('npm start, npm run serve and a deployment refuse %s by its name', (_, env, sentence) => {
    expect(() => readSettings(env)).toThrow(sentence)
    expect(() => readServedSettings({ ...served, ...env })).toThrow(sentence)
    expect(() => readProps({ ...needed, ...env }, () => undefined)).toThrow(sentence)
  })

  test('npm start, npm run serve and a deployment accept readable settings of answers', () => {
    const env = { RUN_REFUSED_RANKING: '/error=quota', RUN_STARTED: '/code=20000|20100 /ok=true', ZERO_PRICE: 'free' }
    expect(readSettings(env).guard).toMatchObject(env)
    expect(readServedSettings({ ...served, ...env }).guard).toMatchObject(env)
    expect(readProps({ ...needed, ...env }, () => undefined)).toMatchObject({
      runRefusedRanking: '/error=quota',
      runStarted: '/code=20000|20100 /ok=true',
      zeroPrice: 'free',
    })
  })
})

describe('the refusal of a deployment', () => {
  test.each<[string, Record<string, string>, string]>([
    [
      'with a service in clear text',
      { TRACKING_BASE_URL: 'http://service.example/v3' },
      'TRACKING_BASE_URL: must be an https address on AWS',
    ],
    [
      'with a dashboard in clear text',
      { DASHBOARD_URL: 'http://units.example' },
      'DASHBOARD_URL: must be an https address on AWS',
    ],
    [
      'with an address of agents in clear text',
      { PUBLIC_URL: 'http://agents.example' },
      'PUBLIC_URL: must be an https address on AWS',
    ],
    [
      'with an address of agents that has a path',
      { PUBLIC_URL: 'https://agents.example/mcp' },
      'PUBLIC_URL: must be an http(s) address without a path, such as https://agents.example',
    ],
    [
      'with more used than there is',
      { ACCOUNT_UNITS_USED_AT_START: '50001' },
      'ACCOUNT_UNITS_USED_AT_START: must be at most ACCOUNT_UNITS_PER_MONTH',
    ],
    [
      'with a price without a currency',
      { PRICE_PER_UNIT: '0.012' },
      'CURRENCY: must be set too, because PRICE_PER_UNIT is',
    ],
    ['without a flight', { SERVICE_FLIGHT_MS: '0' }, 'SERVICE_FLIGHT_MS: must be from 1000 milliseconds to a day'],
    [
      'with a misspelt variable',
      { ACCOUNT_RENEWAL_DAYS: '12', COOLDOWN_RANKIN: '6h' },
      'these variables are not known: ACCOUNT_RENEWAL_DAYS: is it ACCOUNT_RENEWAL_DAY? COOLDOWN_RANKIN: is it COOLDOWN_RANKING? Correct or unset them.',
    ],
  ])('a deployment is refused %s', (_, env, sentence) => {
    expect(() => readProps({ ...needed, ...env }, () => undefined)).toThrow(sentence)
  })

  test.each<[string, Record<string, string>, string]>([
    [
      'with an unknown option',
      { alarmMail: 'ops@example.com' },
      'these options (-c, cdk.json) are not known: alarmMail; there are sandbox, reserve, alarmEmail, ',
    ],
    [
      'with the stream of another table',
      { ledgerTable: 'restored', ledgerStream: stream },
      'ledgerStream: must be the stream of the table in ledgerTable',
    ],
    [
      'with an AWS budget that no one hears of',
      { awsBudget: '50' },
      'awsBudget: needs alarmEmail (or alarmTopic in an app)',
    ],
    ...['0', '-5', '12.5', 'fifty', '1000001'].map((awsBudget): [string, Record<string, string>, string] => [
      `with an AWS budget of '${awsBudget}'`,
      { awsBudget, alarmEmail: 'ops@example.com' },
      'awsBudget: must be a whole number of US dollars a month from 1 to 1000000',
    ]),
    ...['499', '1000001', '1e9', '500.5', 'many'].flatMap((value): [string, Record<string, string>, string][] => [
      [
        `with a maximum of ${value} reads`,
        { maxTableReads: value },
        'maxTableReads: must be a whole number of read units a second from 500 to 1000000',
      ],
      [
        `with a maximum of ${value} writes`,
        { maxTableWrites: value },
        'maxTableWrites: must be a whole number of write units a second from 500 to 1000000',
      ],
    ]),
    [
      'without an option that does not exist',
      { without: 'domain,alarms' },
      'without: must name some of alarmEmail, domain, awsBudget, reserve, with commas between them',
    ],
    [
      'without an option that it has',
      { without: 'domain,alarmEmail', alarmEmail: 'ops@example.com' },
      'without: must not name alarmEmail, which this deployment has',
    ],
    [
      'as the first deployment of a restored table',
      { ledgerTable: 'other', ledgerStream: stream, firstLedger: 'true' },
      'firstLedger: must be unset with ledgerTable',
    ],
    [
      'as the first deployment without its opening position',
      { firstLedger: 'true' },
      'ACCOUNT_UNITS_USED_AT_START: must be a whole number of units from 0 to 1000000000000; ACCOUNT_RENEWAL_DAY: must be a day of the month, 1 to 31; ACCOUNT_TIME_ZONE: must be',
    ],
  ])('a deployment is refused %s', (_, context, sentence) => {
    const read = () => readProps(needed, (name) => context[name], Object.keys(context))
    expect(read).toThrow(sentence)
  })

  test.each<[string, object, Record<string, string>, string]>([
    [
      'a fault in an entry',
      { algorithms: ['HS256'] },
      {},
      'the issuers file issuers.json: 0.algorithms.0: must be of RS256',
    ],
    [
      'an issuer in clear text',
      { issuer: 'http://127.0.0.1:8080' },
      {},
      'TRUSTED_ISSUERS: the issuer of okta must be an https address on AWS',
    ],
    [
      'the login at another issuer',
      {},
      { ...login, LOGIN_ISSUER: 'entra' },
      'LOGIN_ISSUER: must be the name of an issuer in the file that TRUSTED_ISSUERS names',
    ],
    ['a login without a client', {}, { ...login, LOGIN_CLIENT_ID: '' }, 'LOGIN_CLIENT_ID: is needed with LOGIN_ISSUER'],
    ['a client without a login', {}, { ...login, LOGIN_ISSUER: '' }, 'LOGIN_CLIENT_ID: needs LOGIN_ISSUER too'],
    [
      'a client that is the audience of the API',
      {},
      { ...login, LOGIN_CLIENT_ID: okta.audience },
      'LOGIN_CLIENT_ID: must not be the audience of okta in the issuers file',
    ],
    ['a login that leads nowhere', {}, { ...login, DASHBOARD_URL: '' }, 'DASHBOARD_URL: is needed with LOGIN_ISSUER'],
  ])('a deployment is refused with issuers and %s', (_, entry, env, sentence) => {
    const TRUSTED_ISSUERS = writeIssuers([{ ...okta, ...entry }])
    expect(() => readProps({ ...needed, ...env, TRUSTED_ISSUERS }, () => undefined)).toThrow(sentence)
  })

  test.each<[string, Record<string, string>, string]>([
    [
      'a file that is not there',
      { TRUSTED_ISSUERS: '/nowhere/trusted.json' },
      'the issuers file trusted.json is not there',
    ],
    ['neither issuers nor own tokens', { MINTED_TOKENS: 'off' }, 'MINTED_TOKENS: off needs an issuer in the file'],
    ['no issuer and no own tokens', { MINTED_TOKENS: 'off', TRUSTED_ISSUERS: writeIssuers([]) }, 'MINTED_TOKENS: off'],
  ])('a deployment is refused with %s', (_, env, sentence) => {
    expect(() => readProps({ ...needed, ...env }, () => undefined)).toThrow(sentence)
  })

  test('a deployment accepts the CDK’s own options and the settings of npm start', () => {
    const names = ['aws:cdk:enable-path-metadata', '@aws-cdk/core:newStyle', 'firstLedger']
    const env = { ...needed, ...opening, TRACKING_TOKEN: 't', UNIT_GUARD_URL: 'u', SANDBOX_URL: 's', HOME: '/root' }
    const { firstLedger } = readProps(env, (name) => (name === 'firstLedger' ? 'true' : undefined), names)
    expect(firstLedger).toBe(true)
  })
})

describe('the refusal of npm start', () => {
  test.each<[string, Record<string, string>, string]>([
    [
      'a misspelt variable',
      { TRACKING_BASE_URI: 'https://service.example/v3' },
      'TRACKING_BASE_URI: is it TRACKING_BASE_URL?',
    ],
    ['a variable in small letters', { account_renewal_day: '12' }, 'account_renewal_day: is it ACCOUNT_RENEWAL_DAY?'],
    [
      'more used than the default limit',
      { ACCOUNT_UNITS_USED_AT_START: '50001' },
      'must be at most ACCOUNT_UNITS_PER_MONTH',
    ],
    ['a currency without a price', { CURRENCY: 'EUR' }, 'PRICE_PER_UNIT: must be set too, because CURRENCY is'],
    ['no flight', { SERVICE_FLIGHT_MS: '0' }, 'SERVICE_FLIGHT_MS: must be from 1000 milliseconds to a day'],
  ])('npm start refuses %s by its name', (_, env, sentence) => {
    expect(() => readSettings(env)).toThrow(sentence)
  })

  test('npm start accepts the variables of its env file', () => {
    const env = {
      UNIT_GUARD_PID: '1',
      FOUND_HERE: '',
      PATH: '/bin',
      SLACK_BOT_TOKEN: 'xoxb-1',
    }
    expect(readSettings({ ...env, DATA_DIR: join('a', 'b') }).keptIn).toBe('a/b')
  })
})

test.each([
  ['COOLDOWN_RANKINGS', true],
  ['COOLDOWN_RNAKING', true],
  ['COOLDOWN', false],
  ['DEMOS', false],
  ['COOLDOWN_RANKING', false],
])('%s is nearly the name of a setting: %s', (name, isNear) => {
  const refuse = () => refuseMisspelt('variables', [name], ['COOLDOWN_RANKING', 'DEMO'])
  if (isNear) expect(refuse).toThrow(`${name}: is it COOLDOWN_RANKING?`)
  else expect(refuse).not.toThrow()
})
