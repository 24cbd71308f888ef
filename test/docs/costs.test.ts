import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { filters } from '../../infra/alarms/errors.ts'
import { figures } from '../figures.ts'
import { type Resource, synthesize } from '../support/infra/stack.ts'

/** US dollars: AWS's public list prices in us-east-1 of 23 November 2026, without free tiers. */
const prices = {
  /** An alarm on an expression costs as much as an alarm for each metric that it reads. */
  alarmMetric: 0.1,
  customMetric: 0.3,
  dashboard: 3,
  secret: 0.4,
  secretCall: 0.05 / 10_000,
  key: 1,
  lambdaCall: 0.2 / 1_000_000,
  /** On arm64. */
  lambdaGbSecond: 0.0000133334,
  logIngestedGb: 0.5,
  logStoredGbMonth: 0.03,
  tableReadUnit: 0.125 / 1_000_000,
  tableWriteUnit: 0.625 / 1_000_000,
}

/** An upper limit for a sweep that has nothing to do. It reads two secrets, because the cache ends with the five minutes. */
const sweep = { seconds: 1, memoryGb: 0.5, logGb: 4 / 1024 ** 2, reads: readsOfSweep(), writes: 2, secretCalls: 2 }
const monthMinutes = 730 * 60

/** Another test counts these read units. */
function readsOfSweep(): number {
  const text = readFileSync('test/bench/results.md', 'utf8')
  return Number(/^\| `sweep, nothing open` \| \d+ \| ([\d.]+) \|$/m.exec(text)?.[1])
}

/** Types that cost nothing without calls, data or messages. Any other type must have a price above. */
const freeWhenIdle = [
  'AWS::CDK::Metadata',
  'AWS::DynamoDB::Table',
  'AWS::Events::Rule',
  'AWS::IAM::Policy',
  'AWS::IAM::Role',
  'AWS::Lambda::EventInvokeConfig',
  'AWS::Lambda::EventSourceMapping',
  'AWS::Lambda::Function',
  'AWS::Lambda::Permission',
  'AWS::Lambda::Url',
  'AWS::Logs::LogGroup',
  'AWS::Logs::MetricFilter',
  'AWS::SNS::Subscription',
  'AWS::SNS::Topic',
  'AWS::SNS::TopicPolicy',
  'AWS::SQS::Queue',
  'AWS::SQS::QueuePolicy',
]

interface AlarmMetric {
  readonly Namespace: string
  readonly MetricName: string
}

const { ofType, resources } = synthesize({ context: { alarmEmail: 'ops@example.com' } })

function metricsOf({ Properties }: Resource): AlarmMetric[] {
  const { Metrics, Namespace, MetricName } = Properties
  if (!Metrics) return [{ Namespace, MetricName }]
  const read: { MetricStat?: { Metric: AlarmMetric } }[] = Metrics
  return read.flatMap(({ MetricStat }) => MetricStat?.Metric ?? [])
}

/** The lines of the bill in the order of docs/deploy.md. */
function bill() {
  const metrics = ofType('AWS::CloudWatch::Alarm').flatMap(metricsOf)
  const custom = new Set(metrics.filter(({ Namespace }) => Namespace === 'UnitGuard').map((each) => each.MetricName))
  // A filter gives its metric no value while no line matches, and AWS bills metrics in the hours in which they have values.
  const measured = [...custom].filter((name) => !(name in filters))
  const [sweepRule] = ofType('AWS::Events::Rule').filter(({ id }) => id.startsWith('ScheduleSweep'))
  const [, minutes] = /^rate\((\d+) minutes\)$/.exec(sweepRule?.Properties.ScheduleExpression) ?? []
  const sweeps = monthMinutes / Number(minutes)
  const oneSweep =
    prices.lambdaCall +
    sweep.seconds * sweep.memoryGb * prices.lambdaGbSecond +
    sweep.logGb * (prices.logIngestedGb + 3 * prices.logStoredGbMonth) +
    sweep.reads * prices.tableReadUnit +
    sweep.writes * prices.tableWriteUnit
  return {
    alarms: metrics.length * prices.alarmMetric,
    metrics: measured.length * prices.customMetric,
    secrets:
      ofType('AWS::SecretsManager::Secret').length * prices.secret + sweeps * sweep.secretCalls * prices.secretCall,
    sweeps: sweeps * oneSweep,
    others:
      ofType('AWS::CloudWatch::Dashboard').length * prices.dashboard + ofType('AWS::KMS::Key').length * prices.key,
  }
}

const totalOf = (parts: object) => Object.values(parts).reduce((sum, part) => sum + part, 0)

test('a month without updates and errors costs at most 11.50 US dollars of list price', () => {
  expect(totalOf(bill())).toBeLessThanOrEqual(11.5)
})

test('the bill has each resource of the stack, or the resource is free without use', () => {
  const billed = ['AWS::CloudWatch::Alarm', 'AWS::SecretsManager::Secret']
  const types = new Set(resources.map(({ Type }) => Type))
  expect([...types].filter((type) => ![...billed, ...freeWhenIdle].includes(type))).toEqual([])
})

test('docs/deploy.md has the lines of this bill', () => {
  const { alarms, metrics, secrets, sweeps, others } = bill()
  const shown = (amount: number) => (Math.round(amount * 10) / 10).toFixed(2)
  expect(others).toBe(0)
  expect(readFileSync('docs/deploy.md', 'utf8')).toContain(
    `costs ${shown(alarms + metrics + secrets + sweeps)} US dollars: ${figures().alarms} alarms ${shown(alarms)}, metrics ${shown(metrics)}, four secrets ${shown(secrets)}, sweeps ${shown(sweeps)}.`,
  )
})
