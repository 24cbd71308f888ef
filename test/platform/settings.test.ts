import { describe, expect, test } from 'vitest'
import { guardSettings } from '../../shared/guard/options.ts'
import { parseSettings, WrongSettings } from '../../shared/platform/settings.ts'

const needed = {
  TABLE_NAME: 'unit-guard',
  ACCOUNT_UNITS_PER_MONTH: '50000',
  TRACKING_BASE_URL: 'https://service.example/api/v3',
}
const parse = (env: Record<string, string | undefined>) => parseSettings(guardSettings, { ...needed, ...env })

function faultOf(env: Record<string, string | undefined>): string {
  try {
    parse(env)
  } catch (error) {
    if (error instanceof WrongSettings) return error.message
    throw error
  }
  return 'nothing is wrong'
}

describe('settings', () => {
  const defaults = {
    TABLE_NAME: 'unit-guard',
    SERVICE_TOKEN_SECRET: 'unit-guard/service-token',
    CALLER_KEY_SECRET: 'unit-guard/caller-key',
    LOGIN_CLIENT_SECRET: 'unit-guard/login-client',
    METRIC_NAMESPACE: 'UnitGuard',
    MINTED_TOKENS: 'on',
    SLACK_SECRET: 'unit-guard/slack',
    ACCOUNT_UNITS_PER_MONTH: 50_000,
    TRACKING_BASE_URL: 'https://service.example/api/v3',
    SERVICE_TIMEOUT_MS: 20_000,
    SERVICE_FLIGHT_MS: 300_000,
    DELIVERY_HOURS: 96,
  }

  test('settings have the documented defaults, but no defaults for the account', () => {
    expect(parse({ ACCOUNT_UNITS_PER_MONTH: '50000' })).toEqual(defaults)
  })

  test('an empty variable counts as missing, and unknown variables are ignored', () => {
    expect(parse({ ACCOUNT_RENEWAL_DAY: '', COOLDOWN_RANKING: '', DYNAMODB_ENDPOINT: '', HOME: '/root' })).toEqual(
      defaults,
    )
  })

  test.each<[name: string, text: string, value: unknown]>([
    ['ACCOUNT_UNITS_PER_MONTH', '0', 0],
    ['ACCOUNT_UNITS_PER_MONTH', '1000000000000', 1_000_000_000_000],
    ['ACCOUNT_RENEWAL_DAY', '31', 31],
    ['ACCOUNT_RENEWAL_TIME', '23:59', '23:59'],
    ['ACCOUNT_TIME_ZONE', 'Europe/Berlin', 'Europe/Berlin'],
    ['TRACKING_BASE_URL', 'http://127.0.0.1:8788/v3', 'http://127.0.0.1:8788/v3'],
    ['SERVICE_TIMEOUT_MS', '100', 100],
    ['SERVICE_TIMEOUT_MS', '60000', 60_000],
    ['SERVICE_FLIGHT_MS', '1000', 1_000],
    ['DELIVERY_HOURS', '1', 1],
    ['DELIVERY_HOURS', '168', 168],
    ['ESTIMATE_POINTER_RANKING', '/data/0/a~1b~0c', '/data/0/a~1b~0c'],
    ['COOLDOWN_RANKING', '0', 0],
    ['COOLDOWN_RANKING', '30m', 1_800_000],
    ['COOLDOWN_DIFFICULTY', '6h', 21_600_000],
    ['COOLDOWN_DIFFICULTY', 'day', 'day'],
    ['COOLDOWN_DIFFICULTY', '7d', '7d'],
    ['COOLDOWN_DIFFICULTY', '1000d', '1000d'],
    ['PROJECT_SEPARATOR', ';', ';'],
    ['PRICE_PER_UNIT', '0,012', [{ perUnit: 12_000n }]],
    ['PRICE_PER_UNIT', '1.5', [{ perUnit: 1_500_000n }]],
    ['PRICE_PER_UNIT', '0.01@2028-02-29', [{ perUnit: 10_000n, from: '2028-02-29' }]],
    [
      'PRICE_PER_UNIT',
      '0.01@2025-01-01, 0.012@2026-12-01',
      [
        { perUnit: 10_000n, from: '2025-01-01' },
        { perUnit: 12_000n, from: '2026-12-01' },
      ],
    ],
    ['CURRENCY', 'CHF', 'CHF'],
    ['DASHBOARD_URL', 'https://units.example/', 'https://units.example/'],
    ['DASHBOARD_URL', 'http://127.0.0.1:8787', 'http://127.0.0.1:8787'],
  ])('the setting %s accepts %s', (name, text, value) => {
    expect(parse({ [name]: text })).toMatchObject({ [name]: value })
  })

  const units = 'must be a whole number of units from 0 to 1000000000000'
  const zone = 'must be a time zone of the IANA database, such as Europe/Berlin; UTC is one'
  const url = 'must be an http(s) address that ends in /v3, without a query or credentials'
  const dashboard = 'must be an http(s) address without a path, such as https://units.example'
  const cooldown = 'must be day, 0, or a time such as 30m, 6h, 7d'
  const list = '0.01@2025-01-01,0.012@2026-12-01'
  const price = `must be a price for one unit, such as 0.012, or prices with their first days, such as ${list}`
  const days = `each price of a list must have its first day and a decimal point, because a comma separates prices: ${list}`
  const ascending = 'must name each first day once, the earliest first'
  const pointer = 'must be a JSON Pointer (RFC 6901), such as /data/units'
  test.each<[name: string, text: string | undefined, takes: string]>([
    ['TABLE_NAME', undefined, 'must be the name of the ledger table'],
    ...['-1', '1.5', '5e4', '0x10', '50,000', ' 5', '9007199254740993', '99999999999999999'].map(
      (text): [string, string, string] => ['ACCOUNT_UNITS_PER_MONTH', text, units],
    ),
    ['ACCOUNT_UNITS_USED_AT_START', '-7777', units],
    ['ACCOUNT_RENEWAL_DAY', '0', 'must be a day of the month, 1 to 31'],
    ['ACCOUNT_RENEWAL_DAY', '32', 'must be a day of the month, 1 to 31'],
    ['ACCOUNT_RENEWAL_DAY', 'last', 'must be a day of the month, 1 to 31'],
    ['ACCOUNT_RENEWAL_TIME', '24:00', 'must be a time like 00:00'],
    ['ACCOUNT_RENEWAL_TIME', '9:30', 'must be a time like 00:00'],
    ['ACCOUNT_TIME_ZONE', 'Mars/Phobos', zone],
    ['ACCOUNT_TIME_ZONE', '+01:00', zone],
    ['TRACKING_BASE_URL', undefined, 'must be the address of the service, ending in /v3'],
    ['TRACKING_BASE_URL', 'canary.example/v3', url],
    ['TRACKING_BASE_URL', 'https://canary.example/v2', url],
    ['TRACKING_BASE_URL', 'https://ada:canary@service.example/v3', url],
    ['TRACKING_BASE_URL', 'https://service.example/v3?token=canary', url],
    ['TRACKING_BASE_URL', 'https://service.example/v3#canary', url],
    ['TRACKING_BASE_URL', 'file:///canary/v3', url],
    ['SERVICE_TIMEOUT_MS', '99', 'must have 100 to 60000 milliseconds'],
    ['SERVICE_TIMEOUT_MS', '60001', 'must have 100 to 60000 milliseconds'],
    ['SERVICE_FLIGHT_MS', '0', 'must be from 1000 milliseconds to a day'],
    ['SERVICE_FLIGHT_MS', '999', 'must be from 1000 milliseconds to a day'],
    ['SERVICE_FLIGHT_MS', '86400001', 'must be from 1000 milliseconds to a day'],
    ['DELIVERY_HOURS', '0', 'must be a whole number of hours from 1 to 168'],
    ['DELIVERY_HOURS', '169', 'must be a whole number of hours from 1 to 168'],
    ['RUN_POINTER_DIFFICULTY', 'data.units', pointer],
    ['RUN_POINTER_RANKING', '/a~2', pointer],
    ['COOLDOWN_RANKING', '7', cooldown],
    ['PROJECT_SEPARATOR', ', ', 'must be one of , ; | : + ~ ! *'],
    ['PROJECT_SEPARATOR', '-', 'must be one of , ; | : + ~ ! *'],
    ...['1.200,50', '-1', 'free', '0.0000001'].map((text): [string, string, string] => ['PRICE_PER_UNIT', text, price]),
    ...['0.01@2026-02-30', '0.01@2026-13-01', '0.01@', '@2026-12-01', '-1@2026-12-01', '0.01@2026-12-01T00:00'].map(
      (text): [string, string, string] => ['PRICE_PER_UNIT', text, price],
    ),
    ...['0,01@2026-12-01', '0.01@2025-01-01,0,012@2026-12-01', '0.01,0.012@2026-12-01', `${list},`].map(
      (text): [string, string, string] => ['PRICE_PER_UNIT', text, days],
    ),
    ['PRICE_PER_UNIT', '0.012@2026-12-01,0.01@2025-01-01', ascending],
    ['PRICE_PER_UNIT', '0.012@2026-12-01,0.01@2026-12-01', ascending],
    [
      'PRICE_PER_UNIT',
      Array.from({ length: 51 }, (_, year) => `1@${2000 + year}-01-01`).join(','),
      'must have at most 50 prices',
    ],
    ['CURRENCY', 'Euro', 'must be a currency of ISO 4217, such as EUR'],
    ['COOLDOWN_RANKING', '-1d', cooldown],
    ['COOLDOWN_DIFFICULTY', '1w', cooldown],
    ['DYNAMODB_ENDPOINT', 'canary', 'must be the address of an endpoint'],
    ['SECRETS_ENDPOINT', 'canary', 'must be the address of an endpoint'],
    ...['canary', 'https://units.example/canary', 'https://units.example?canary', 'javascript:canary'].map(
      (text): [string, string, string] => ['DASHBOARD_URL', text, dashboard],
    ),
  ])('the setting %s refuses %s, and the message does not show it', (name, text, takes) => {
    const fault = faultOf({ [name]: text })
    expect(fault).toBe(`these settings are missing or wrong: ${name}: ${takes}`)
    expect(fault).not.toMatch(/canary|7777/)
  })

  test('all wrong settings are named at once', () => {
    expect(faultOf({ TABLE_NAME: '', ACCOUNT_RENEWAL_DAY: '40', COOLDOWN_RANKING: 'soon' })).toBe(
      `these settings are missing or wrong: TABLE_NAME: must be the name of the ledger table; ACCOUNT_RENEWAL_DAY: must be a day of the month, 1 to 31; COOLDOWN_RANKING: ${cooldown}`,
    )
  })
})
