import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { filters } from '../../infra/alarms/errors.ts'
import { bookKey } from '../../shared/ledger/book/book-item.ts'
import type { Budget } from '../../shared/ledger/definitions/definitions.ts'
import { usualAccount } from '../../shared/ledger/identity.ts'
import { createLedger } from '../../shared/ledger/ledger.ts'
import { toAttributes } from '../../shared/ledger/store/dynamo-transaction.ts'
import { definitionsKey } from '../../shared/ledger/store/stored.ts'
import { toUnits } from '../../shared/platform/words.ts'
import { figures } from '../figures.ts'
import { createTestClock } from '../support/clock.ts'
import { type Resource, synthesize } from '../support/infra/stack.ts'
import { itemSize } from '../support/store/item-size.ts'
import { createMemoryStore } from '../support/store/memory-store.ts'

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

/** DynamoDB writes at most this many units a second of one item. */
const maxItemWrites = 1_000
/** The hold and the settlement of an update. */
const transactions = 2
const kb = (bytes: number): number => Math.ceil(bytes / 1024)
const limitUnits = toUnits(5_000)

/** The sizes of both items with this many budgets, each of which has a monthly limit and has spent this month. */
async function sizesOf(budgets: number, projects = 0) {
  const store = createMemoryStore()
  const ledger = createLedger({ store, clock: createTestClock('2026-11-20T10:00:00Z'), account: usualAccount })
  const listed = Array.from({ length: projects }, (_, index) => ({
    name: `www.customer-${index}.`.padEnd(30, 'x'),
    id: String(10_000_000 + index),
  }))
  const clients = Array.from({ length: budgets - 1 }, (_, index): [string, Budget] => {
    const name = `client-${String(index).padStart(4, '0')}`
    const limits = [{ window: 'month', units: limitUnits }] as const
    return [name, { name, parent: 'account', limits, projects: index === 0 ? listed : [] }]
  })
  const changed = await ledger.change('ada', ({ definitions }) => ({
    definitions: { ...definitions, budgets: { ...definitions.budgets, ...Object.fromEntries(clients) } },
    note: { type: 'limit', budget: 'account', reason: 'r' },
  }))
  expect(changed.kind).toBe('changed')
  const charged = {
    type: 'grant',
    budget: 'account',
    units: 1,
    window: 'month',
    wholeChain: false,
    reason: 'r',
  } as const
  await ledger.enter({ id: 'ent_1', content: 'c', by: 'ada', ...charged })
  const [book = {}, definitions = {}] = await store.get([bookKey('month:2026-11-01'), definitionsKey])
  const month = Object.entries(Object(Object(book).month)).map(([name, counter]) => {
    const spent = name === 'account' ? {} : { a: 3_123, s: 1_877 }
    return [name, { ...Object(counter), ...spent }]
  })
  const spent = { ...Object(book), month: Object.fromEntries(month) }
  return { book: itemSize(toAttributes(spent)), definitions: itemSize(toAttributes(Object(definitions))) }
}

/** The units of `POST /updates` and of its two calls of *tell*, which another test counts with ten budgets. */
function tableCostOf({ book, definitions }: { book: number; definitions: number }): number {
  const text = readFileSync('test/bench/results.md', 'utf8')
  const [, reads, writes, indexes] = /^\| `POST \/updates` \| 1\+2 \| (\d+)\+(\d+)\+(\d+) \|$/m.exec(text) ?? []
  const moreWrites = transactions * 2 * (kb(book) - 1)
  const both = Math.ceil(kb(book) / 4) + Math.ceil(kb(definitions) / 4)
  const allReads = Number(reads) - 2 + both + transactions * both
  return allReads * prices.tableReadUnit + (Number(writes) + Number(indexes) + moreWrites) * prices.tableWriteUnit
}

const shortest = (figure: number): string => (figure < 5 ? figure.toFixed(1) : String(Math.round(figure)))

test.each([10, 60, 500, 1_000])('docs/performance.md has the limits of a book with %i budgets', async (budgets) => {
  const sizes = await sizesOf(budgets)
  const perSecond = maxItemWrites / (transactions * 2 * kb(sizes.book))
  const million = 1_000_000 * tableCostOf(sizes)
  const row = [budgets.toLocaleString('en-US'), kb(sizes.book), shortest(perSecond), Math.round(million)]
  expect(readFileSync('docs/performance.md', 'utf8')).toContain(`| ${row.join(' | ')} |`)
})

test('docs/performance.md has the whole cost of a million updates, with the 80 dollars that do not depend on budgets', async () => {
  const of = async (budgets: number, projects = 0) =>
    Math.round(1_000_000 * tableCostOf(await sizesOf(budgets, projects)))
  const [few, many, listed] = [await of(10), await of(500), await of(500, 2_000)]
  expect(readFileSync('docs/performance.md', 'utf8')).toContain(
    `${80 + few} in all with ten budgets, ${80 + many} with 500, and ${listed - many} more with 2,000 projects in them`,
  )
})

test('docs/performance.md says with how many projects the definitions are full', async () => {
  const [some, more] = [await sizesOf(2, 1_000), await sizesOf(2, 3_000)]
  const projects = 350_000 / ((more.definitions - some.definitions) / 2_000)
  const shown = (Math.round(projects / 1_000) * 1_000).toLocaleString('en-US')
  expect(readFileSync('docs/performance.md', 'utf8')).toContain(`near ${shown} projects`)
})
