import { describe, expect, test } from 'vitest'
import { sandboxSettings } from '../../functions/sandbox/settings.ts'
import { filters } from '../../infra/outbox.ts'
import { guardSettings, mcpSettings, settleMarginMs } from '../../shared/guard/options.ts'
import { ledgerOnlySettings, parseSettings } from '../../shared/platform/settings.ts'
import { login, needed, okta, warehouse, writePlans } from '../support/infra/deployment.ts'
import { plain, synthesize } from '../support/infra/stack.ts'
import { variants } from '../support/infra/variants.ts'

const all = {
  ACCOUNT_UNITS_USED_AT_START: '12800',
  ACCOUNT_RENEWAL_DAY: '12',
  ACCOUNT_RENEWAL_TIME: '06:30',
  ACCOUNT_TIME_ZONE: 'Europe/Berlin',
  SERVICE_TIMEOUT_MS: '60000',
  SERVICE_FLIGHT_MS: '600000',
  ESTIMATE_POINTER_RANKING: '/data/units',
  ESTIMATE_POINTER_DIFFICULTY: '/units',
  RUN_POINTER_RANKING: '/cost',
  RUN_POINTER_DIFFICULTY: '/cost',
  COOLDOWN_RANKING: '6h',
  COOLDOWN_DIFFICULTY: '0',
  PROJECT_SEPARATOR: ';',
  PRICE_PER_UNIT: '0.01@2025-01-01,0.012@2026-12-01',
  CURRENCY: 'EUR',
}
// Settings of one machine, which a deployment must not have.
const ofOneMachine = {
  TABLE_NAME: 'local',
  DYNAMODB_ENDPOINT: 'http://127.0.0.1:8000',
  SECRETS_ENDPOINT: 'http://127.0.0.1:8001',
  SERVICE_TOKEN_SECRET: 'local',
  PORT: '8787',
}
const plansFile = writePlans([])
const { functions, ofType, template } = synthesize({
  env: { ...all, ...ofOneMachine, PLANS: plansFile },
  context: { reserve: 'on' },
})

const propertiesOf = (name: string, of = functions) => {
  const found = of[name]
  if (!found) throw new Error(`there is no function ${name}`)
  return found.Properties
}
const environmentOf = (name: string, of = functions): Record<string, string> =>
  plain(propertiesOf(name, of).Environment.Variables)

/** A function URL in place of the reference to it. */
const dashboardUrl = 'https://abc.lambda-url.eu-central-1.on.aws/'
const withDashboardUrl = (environment: Record<string, string>) =>
  environment.DASHBOARD_URL === 'DashboardFunctionFunctionUrl.FunctionUrl'
    ? { ...environment, DASHBOARD_URL: dashboardUrl }
    : environment

/** The parameter's value after a ledger began. */
const marker = 'led_abc 0 3f1c UnitGuard-Ledger'

const guardMembers = {
  TABLE_NAME: 'LedgerTable',
  PLANS: 'plans.json',
  ...needed,
  ...all,
}

describe('the environment of a function', () => {
  test.each([
    ['Dashboard', { SERVICE_TOKEN_SECRET: 'SecretsServiceToken', CALLER_KEY_SECRET: 'SecretsCallerKey' }],
    [
      'Api',
      {
        SERVICE_TOKEN_SECRET: 'SecretsServiceToken',
        CALLER_KEY_SECRET: 'SecretsCallerKey',
        DASHBOARD_URL: dashboardUrl,
      },
    ],
    [
      'Mcp',
      {
        SERVICE_TOKEN_SECRET: 'SecretsServiceToken',
        CALLER_KEY_SECRET: 'SecretsCallerKey',
        QUOTE_KEY_SECRET: 'SecretsQuoteKey',
        DASHBOARD_URL: dashboardUrl,
      },
    ],
    [
      'Scheduled',
      { SERVICE_TOKEN_SECRET: 'SecretsServiceToken', SLACK_SECRET: 'SecretsSlack', DASHBOARD_URL: dashboardUrl },
    ],
    [
      'OutboxStart',
      { SERVICE_TOKEN_SECRET: 'SecretsServiceToken', SLACK_SECRET: 'SecretsSlack', DASHBOARD_URL: dashboardUrl },
    ],
    ['OutboxTell', { SLACK_SECRET: 'SecretsSlack', DASHBOARD_URL: dashboardUrl }],
  ])('the environment of %s fits the guard’s schema and has no other variables', (name, secrets) => {
    const environment = withDashboardUrl(environmentOf(name))
    const { DEPLOYED_OPTIONS, ...rest } = environment
    expect(rest).toEqual({ ...guardMembers, LEDGER_MARKER: 'LedgerMarker', ...secrets })
    expect(DEPLOYED_OPTIONS).toBe(
      name === 'Scheduled' ? 'alarmEmail=missing domain=missing awsBudget=missing reserve=given' : undefined,
    )
    const given = { ...environment, LEDGER_MARKER: marker }
    const read = { ...parseSettings(guardSettings, given), ...parseSettings(mcpSettings, given) }
    expect(read).toMatchObject({
      LEDGER_MARKER: { ledger: 'led_abc', epoch: 0, table: '3f1c', tableName: 'UnitGuard-Ledger' },
      TABLE_NAME: 'LedgerTable',
      ACCOUNT_UNITS_PER_MONTH: 50_000,
      ACCOUNT_UNITS_USED_AT_START: 12_800,
      ACCOUNT_RENEWAL_DAY: 12,
      ACCOUNT_RENEWAL_TIME: '06:30',
      ACCOUNT_TIME_ZONE: 'Europe/Berlin',
      TRACKING_BASE_URL: 'https://service.example/v3',
      SERVICE_TIMEOUT_MS: 60_000,
      PLANS: 'plans.json',
      COOLDOWN_RANKING: 21_600_000,
      COOLDOWN_DIFFICULTY: 0,
      ...secrets,
    })
  })

  test('the environment of SlackApp fits its schema, without the service and its token', () => {
    const environment = environmentOf('SlackApp')
    const { ACCOUNT_UNITS_PER_MONTH } = needed
    const { ACCOUNT_UNITS_USED_AT_START, ACCOUNT_RENEWAL_DAY, ACCOUNT_RENEWAL_TIME, ACCOUNT_TIME_ZONE } = all
    expect(environment).toEqual({
      LEDGER_MARKER: 'LedgerMarker',
      TABLE_NAME: 'LedgerTable',
      SLACK_SECRET: 'SecretsSlack',
      ACCOUNT_UNITS_PER_MONTH,
      ACCOUNT_UNITS_USED_AT_START,
      ACCOUNT_RENEWAL_DAY,
      ACCOUNT_RENEWAL_TIME,
      ACCOUNT_TIME_ZONE,
    })
    expect(parseSettings(ledgerOnlySettings, { ...environment, LEDGER_MARKER: marker })).toMatchObject({
      SLACK_SECRET: 'SecretsSlack',
    })
  })

  test('the guard calls the stand-in as the service if it is deployed', () => {
    const { functions } = synthesize(variants.standIn)
    const { SANDBOX_TABLE, SERVICE_TOKEN_SECRET } = parseSettings(sandboxSettings, environmentOf('Sandbox', functions))
    expect([SANDBOX_TABLE, SERVICE_TOKEN_SECRET]).toEqual(['SandboxTable', 'SecretsServiceToken'])
    for (const name of ['Api', 'Dashboard', 'Mcp', 'Scheduled', 'OutboxStart', 'OutboxTell']) {
      expect(environmentOf(name, functions).TRACKING_BASE_URL).toBe('SandboxFunctionFunctionUrl.FunctionUrlv3')
    }
    expect(propertiesOf('Sandbox', functions)).toMatchObject({ Runtime: 'nodejs24.x', Architectures: ['arm64'] })
  })

  test('without plans and issuers, no function has PLANS or TRUSTED_ISSUERS', () => {
    const { functions } = synthesize()
    for (const name of Object.keys(functions)) {
      const { PLANS, TRUSTED_ISSUERS, LOGIN_CLIENT_SECRET } = environmentOf(name, functions)
      expect([PLANS, TRUSTED_ISSUERS, LOGIN_CLIENT_SECRET], name).toEqual([undefined, undefined, undefined])
    }
  })

  test('all functions of the guard know the issuers and the login, and only the dashboard the client’s secret', () => {
    const { functions, ofType } = synthesize({ issuers: [okta], env: { ...login, MINTED_TOKENS: 'off' } })
    const identity = { ...login, MINTED_TOKENS: 'off', TRUSTED_ISSUERS: 'issuers.json' }
    for (const name of ['Api', 'Dashboard', 'Mcp', 'Scheduled', 'OutboxStart'])
      expect(environmentOf(name, functions), name).toMatchObject(identity)
    const secrets = Object.keys(functions).map((name) => environmentOf(name, functions).LOGIN_CLIENT_SECRET)
    expect(secrets).toEqual(['SecretsLoginClient', ...Array.from({ length: 6 }, () => undefined)])
    const { Properties, ...kept } = ofType('AWS::SecretsManager::Secret').at(-1) ?? {}
    expect(kept).toMatchObject({ DeletionPolicy: 'RetainExceptOnCreate' })
    expect(Properties).toEqual({ Name: 'unit-guard/login-client', Description: expect.any(String) })
  })
})

test('only functions that send or show events know their targets', () => {
  const { functions } = synthesize({ targets: [warehouse] })
  const knowing = Object.keys(functions).filter((name) => {
    const { EVENT_TARGETS } = environmentOf(name, functions)
    expect([undefined, 'event-targets.json'], name).toContain(EVENT_TARGETS)
    return EVENT_TARGETS !== undefined
  })
  expect(knowing).toEqual(['Dashboard', 'Scheduled', 'OutboxTell'])
})

describe('the address of agents', () => {
  test('only the function for agents has PUBLIC_URL, if it is set', () => {
    const { functions } = synthesize({ env: { PUBLIC_URL: 'https://agents.example' } })
    const having = Object.keys(functions).filter((name) => environmentOf(name, functions).PUBLIC_URL !== undefined)
    expect(having).toEqual(['Mcp'])
    expect(environmentOf('Mcp', functions).PUBLIC_URL).toBe('https://agents.example')
  })
})

describe('a function of the stack', () => {
  test('functions have the documented memory, timeout and runtime', () => {
    const said = Object.entries(functions).map(([name, { Properties }]) => {
      const { Handler, MemorySize, Timeout, ReservedConcurrentExecutions, LoggingConfig, Runtime, Architectures } =
        Properties
      expect([Runtime, Architectures, plain(LoggingConfig)]).toEqual(['nodejs24.x', ['arm64'], { LogGroup: 'Log' }])
      return [name, Handler, MemorySize, Timeout, ReservedConcurrentExecutions]
    })
    expect(said).toEqual([
      ['Dashboard', 'index.handler', 1024, 120, 50],
      ['Api', 'index.handler', 1024, 120, 200],
      ['Mcp', 'index.handler', 1024, 120, 100],
      ['SlackApp', 'index.handler', 1024, 10, 20],
      ['Scheduled', 'index.handler', 512, 900, 50],
      ['OutboxStart', 'index.start', 512, 300, undefined],
      ['OutboxTell', 'index.tell', 512, 120, undefined],
    ])
  })

  test('functions that send updates may run longer than the longest call and its settlement', () => {
    for (const name of ['Api', 'Mcp', 'Scheduled', 'OutboxStart']) {
      expect(propertiesOf(name).Timeout * 1000).toBeGreaterThan(60_000 + settleMarginMs)
    }
  })

  test('no function reserves concurrency without the option', () => {
    for (const { Properties } of Object.values(synthesize().functions)) {
      expect(Properties.ReservedConcurrentExecutions).toBeUndefined()
    }
  })

  test('every function with a public URL has a maximum, and a quota of 1,000 keeps more than AWS’s 100 free', () => {
    const of = (name: string): number | undefined => propertiesOf(name).ReservedConcurrentExecutions
    const urls = ofType('AWS::Lambda::Url').map(({ Properties }) => plain(Properties.TargetFunctionArn))
    const open = urls.map((arn: string) => arn.replace('Function.Arn', ''))
    expect(open.filter((name: string) => of(name) === undefined)).toEqual([])
    const reserved = Object.keys(functions).reduce((sum, name) => sum + (of(name) ?? 0), 0)
    expect(1000 - reserved).toBe(580)
  })
})

describe('the addresses', () => {
  test('the URLs of the API, the dashboard and MCP stream, and that of Slack does not', () => {
    const urls = ofType('AWS::Lambda::Url').map(({ Properties }) => plain(Properties))
    expect(urls).toEqual([
      { AuthType: 'NONE', InvokeMode: 'RESPONSE_STREAM', TargetFunctionArn: 'DashboardFunction.Arn' },
      { AuthType: 'NONE', InvokeMode: 'RESPONSE_STREAM', TargetFunctionArn: 'ApiFunction.Arn' },
      { AuthType: 'NONE', InvokeMode: 'RESPONSE_STREAM', TargetFunctionArn: 'McpFunction.Arn' },
      { AuthType: 'NONE', InvokeMode: 'BUFFERED', TargetFunctionArn: 'SlackAppFunction.Arn' },
    ])
    const outputs = template.toJSON().Outputs
    expect(Object.keys(outputs)).toEqual(['ApiUrl', 'DashboardUrl', 'McpUrl', 'SlackUrl', 'TableName', 'LogGroupName'])
  })
})

describe('the two readers of the stream', () => {
  const sources = ofType('AWS::Lambda::EventSourceMapping').map(({ Properties }) => plain(Properties))

  test('stream readers give up a record after three retries or an hour, and keep their position', () => {
    const shared = {
      EventSourceArn: 'LedgerTable.StreamArn',
      StartingPosition: 'TRIM_HORIZON',
      MaximumRetryAttempts: 3,
      MaximumRecordAgeInSeconds: 3600,
      BisectBatchOnFunctionError: true,
      FunctionResponseTypes: ['ReportBatchItemFailures'],
      DestinationConfig: { OnFailure: { Destination: 'DeadLettersQueue.Arn' } },
    }
    expect(sources).toMatchObject([
      { FunctionName: 'OutboxStartFunction', BatchSize: 5, ParallelizationFactor: 5, ...shared },
      { FunctionName: 'OutboxTellFunction', BatchSize: 10, ParallelizationFactor: 1, ...shared },
    ])
  })
})

test.each<[string, Parameters<typeof synthesize>[0], 'tell' | 'tellEvents']>([
  ['none', {}, 'tell'],
  ['a target', { targets: [warehouse] }, 'tellEvents'],
])('each reader of the stream has its own filter, if events have %s', (_where, options, telling) => {
  const patterns = synthesize(options)
    .ofType('AWS::Lambda::EventSourceMapping')
    .map(({ Properties: { FunctionName, FilterCriteria } }) => [
      plain(FunctionName),
      FilterCriteria.Filters.map(({ Pattern }: { Pattern: string }) => JSON.parse(Pattern)),
    ])
  expect(Object.fromEntries(patterns)).toEqual({
    OutboxStartFunction: filters.start,
    OutboxTellFunction: filters[telling],
  })
})

describe('failed calls of the scheduled function', () => {
  test('failed scheduled calls are retried twice within an hour and kept', () => {
    expect(ofType('AWS::Lambda::EventInvokeConfig').map(({ Properties }) => plain(Properties))).toEqual([
      {
        FunctionName: 'ScheduledFunction',
        Qualifier: '$LATEST',
        MaximumRetryAttempts: 2,
        MaximumEventAgeInSeconds: 3600,
        DestinationConfig: { OnFailure: { Destination: 'DeadLettersQueue.Arn' } },
      },
    ])
  })
})
