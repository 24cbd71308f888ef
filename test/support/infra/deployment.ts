import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** The settings that every deployment needs. */
export const needed = {
  ACCOUNT_UNITS_PER_MONTH: '50000',
  TRACKING_BASE_URL: 'https://service.example/v3',
}

export const writePlans = (plans: readonly object[]): string => write('plans', plans)
export const writeIssuers = (issuers: readonly object[]): string => write('issuers', issuers)
export const writeTargets = (targets: readonly object[]): string => write('event-targets', targets)

/** An entry of the file of event targets. */
export const warehouse = {
  name: 'warehouse',
  url: 'https://warehouse.example/hooks',
  secret: 'unit-guard/events/warehouse',
  types: ['update.*', 'budget.*'],
}

/** An entry of the file of trusted issuers. */
export const okta = {
  name: 'okta',
  issuer: 'https://acme.okta.example/oauth2/default',
  audience: 'unit-guard',
  algorithms: ['RS256'],
  scopes: ['read', 'run'],
}

export const login = {
  LOGIN_ISSUER: 'okta',
  LOGIN_CLIENT_ID: '0oa1login',
  DASHBOARD_URL: 'https://units.example',
}

export const behindEdge = { domain: 'guard.example.com', hostedZone: 'Z0123456789ABC' }

/** A stack with every compatible option. The stand-in excludes a service, and a first deployment excludes the readers. */
export const everyOption = {
  env: {
    // The dashboard's address follows from the domain.
    ...login,
    DASHBOARD_URL: '',
    ACCOUNT_UNITS_USED_AT_START: '0',
    ACCOUNT_RENEWAL_DAY: '1',
    ACCOUNT_TIME_ZONE: 'UTC',
    ACCOUNT_RENEWAL_TIME: '06:00',
    SERVICE_TIMEOUT_MS: '15000',
    SERVICE_FLIGHT_MS: '300000',
    DELIVERY_HOURS: '72',
    ESTIMATE_POINTER_RANKING: '/data/units',
    ESTIMATE_POINTER_DIFFICULTY: '/data/units',
    RUN_POINTER_RANKING: '/data/units',
    RUN_POINTER_DIFFICULTY: '/data/units',
    RUN_REFUSED: '/response_code=26',
    RUN_REFUSED_RANKING: '/response_code=27',
    RUN_REFUSED_DIFFICULTY: '/response_code=28',
    RUN_STARTED: '/response_code=0',
    RUN_STARTED_RANKING: '/response_code=1',
    RUN_STARTED_DIFFICULTY: '/response_code=2',
    ANSWERS_WELL: '/status_code=20000',
    ANSWERS_WELL_RANKING: '/status_code=20100',
    ANSWERS_WELL_DIFFICULTY: '/status_code=20200',
    ZERO_PRICE: 'free',
    COOLDOWN_RANKING: '6h',
    COOLDOWN_DIFFICULTY: 'day',
    PROJECT_SEPARATOR: ',',
    SLACK_CHANNEL: 'C02ABCDEF',
    PRICE_PER_UNIT: '0.012',
    CURRENCY: 'EUR',
  },
  issuers: [okta],
  targets: [warehouse],
  plans: [{ name: 'morning', kind: 'ranking', projects: ['acme'], schedule: 'cron(0 5 * * ? *)' }],
  context: {
    reserve: 'on',
    alarmEmail: 'ops@example.com',
    awsBudget: '100',
    maxTableReads: '4000',
    maxTableWrites: '1000',
    ...behindEdge,
  },
}

/** With the resources that only the first deployment creates, and without those that it leaves to the next one. */
export const firstDeployment = { ...everyOption, context: { ...everyOption.context, firstLedger: 'true' } }

function write(name: string, rows: readonly object[]): string {
  const file = join(mkdtempSync(join(tmpdir(), `unit-guard-${name}-`)), `${name}.json`)
  writeFileSync(file, JSON.stringify(rows))
  return file
}
