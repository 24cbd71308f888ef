import { describe, expect, test } from 'vitest'
import { readProps } from '../../infra/options.ts'
import { needed, warehouse, writePlans, writeTargets } from '../support/infra/deployment.ts'

const nothing = () => undefined
const plan = { name: 'morning', kind: 'ranking', projects: ['acme'], schedule: 'cron(0 5 * * ? *)' }

describe('a deployment with a wrong setting', () => {
  test.each<[string, Record<string, string>, string]>([
    [
      'no limit of the account',
      { ACCOUNT_UNITS_PER_MONTH: '' },
      'ACCOUNT_UNITS_PER_MONTH: must be a whole number of units',
    ],
    ['half a unit', { ACCOUNT_UNITS_PER_MONTH: '0.5' }, 'ACCOUNT_UNITS_PER_MONTH: must be a whole number of units'],
    ['no service', { TRACKING_BASE_URL: '' }, 'TRACKING_BASE_URL: must be the address of the service, ending in /v3'],
    ['another version', { TRACKING_BASE_URL: 'https://x.example/v2' }, 'TRACKING_BASE_URL: must be an http(s) address'],
    ['an unknown time zone', { ACCOUNT_TIME_ZONE: 'Europe/Atlantis' }, 'ACCOUNT_TIME_ZONE: must be a time zone'],
    ['renewal day 32', { ACCOUNT_RENEWAL_DAY: '32' }, 'ACCOUNT_RENEWAL_DAY: must be a day of the month, 1 to 31'],
    ['renewal at 24:00', { ACCOUNT_RENEWAL_TIME: '24:00' }, 'ACCOUNT_RENEWAL_TIME: must be a time like 00:00'],
    ['not a JSON Pointer', { RUN_POINTER_RANKING: 'units' }, 'RUN_POINTER_RANKING: must be a JSON Pointer'],
    ['a cool-down of a month', { COOLDOWN_RANKING: 'month' }, 'COOLDOWN_RANKING: must be day, 0, or a time'],
    [
      'two minutes for a call',
      { SERVICE_TIMEOUT_MS: '120000' },
      'SERVICE_TIMEOUT_MS: must have 100 to 60000 milliseconds',
    ],
    ['plans that are not there', { PLANS: '/nowhere/plans.json' }, 'the plans file plans.json is not there'],
  ])('a deployment is refused with %s', (_what, env, sentence) => {
    expect(() => readProps({ ...needed, ...env }, nothing)).toThrow(sentence)
  })

  test.each<[string, object, string]>([
    ['a budget of two words', { budget: 'Client A' }, 'plan 1 (morning), budget: must have 1 to 63 of a-z, 0-9 and -'],
    ['five fields of cron', { schedule: 'cron(0 5 * * *)' }, 'plan 1 (morning), schedule: cron needs six fields'],
    ['two days of cron', { schedule: 'cron(0 5 1 * MON *)' }, 'plan 1 (morning), schedule: '],
    ['cron’s 30 February', { schedule: 'cron(0 5 30 2 ? *)' }, 'plan 1 (morning), schedule: there is no such day'],
    ['a rate of 1 hours', { schedule: 'rate(1 hours)' }, 'write rate(1 hour)'],
    ['no project', { projects: [] }, 'plan 1 (morning), projects: must have 1 to 500 projects'],
  ])('a deployment is refused with a plan with %s', (_what, wrong, sentence) => {
    const PLANS = writePlans([{ ...plan, ...wrong }])
    expect(() => readProps({ ...needed, PLANS }, nothing)).toThrow(sentence)
  })

  test.each<[string, object, string]>([
    ['an address with http', { url: 'http://127.0.0.1:9000/hook' }, 'must be an https address on AWS'],
    ['a misspelt type', { types: ['updates.*'] }, '0.types.0: must be the type of an event'],
  ])('a deployment is refused with an event target with %s', (_what, wrong, sentence) => {
    const EVENT_TARGETS = writeTargets([{ ...warehouse, ...wrong }])
    expect(() => readProps({ ...needed, EVENT_TARGETS }, nothing)).toThrow(sentence)
  })

  test.each<[string, Record<string, unknown>, string]>([
    ['sandbox', { sandbox: 'yes' }, 'sandbox: must be true or false'],
    ['sandbox, beside a service', { sandbox: 'true' }, 'TRACKING_BASE_URL: must be unset with sandbox'],
    ['reserve', { reserve: '20' }, 'reserve: must be on or off'],
    ['secrets', { secrets: 'mine' }, 'secrets: must be existing, or unset'],
    ['alarmEmail', { alarmEmail: 'ops' }, 'alarmEmail: must be an e-mail address'],
    ['ledgerStream', { ledgerTable: 'restored', ledgerStream: 'x' }, 'ledgerStream: must be the ARN of its stream'],
    ['ledgerTable alone', { ledgerTable: 'restored' }, 'set both, to the restored table and its stream, or neither'],
  ])('a deployment is refused with a wrong option: %s', (_what, context, sentence) => {
    expect(() => readProps(needed, (name) => context[name])).toThrow(sentence)
  })

  test('a refused deployment names all faults without any value', () => {
    const wrong = { ACCOUNT_RENEWAL_DAY: 'canary', ACCOUNT_TIME_ZONE: 'canary' }
    const said = () => readProps(wrong, nothing)
    expect(said).toThrow(/ACCOUNT_UNITS_PER_MONTH.*ACCOUNT_RENEWAL_DAY.*ACCOUNT_TIME_ZONE.*TRACKING_BASE_URL/)
    expect(said).not.toThrow('canary')
  })
})

test('options of cdk.json are read like options of -c', () => {
  const context: Record<string, unknown> = { reserve: 'on', sandbox: false }
  const { sandbox, firstLedger, reserveConcurrency } = readProps(needed, (name) => context[name])
  expect({ sandbox, firstLedger, reserveConcurrency }).toEqual({
    sandbox: false,
    firstLedger: false,
    reserveConcurrency: true,
  })
})
