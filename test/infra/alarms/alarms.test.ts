import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { causesOfTable, eventsOf, filters } from '../../../infra/alarms/errors.ts'
import { vitals } from '../../../shared/platform/metrics.ts'
import { figures } from '../../figures.ts'
import { plain, synthesize } from '../../support/infra/stack.ts'
import { documentedEvents, schemas } from '../../support/log-lines.ts'

const { ofType } = synthesize({ context: { alarmEmail: 'ops@example.com' } })
const watching = (of: typeof ofType) => of('AWS::CloudWatch::Alarm')
const alarms = watching(ofType).map(({ id, Properties }) => ({ id, ...plain(Properties) }))
const firsts = { ACCOUNT_UNITS_USED_AT_START: '0', ACCOUNT_RENEWAL_DAY: '1', ACCOUNT_TIME_ZONE: 'UTC' }
const alarmNamed = (name: string) => alarms.find(({ id }) => id.startsWith(`Watching${name}`))

interface Dimension {
  readonly Name: string
  readonly Value: string
}

/** GitHub makes anchors of headings in this way. https://github.com/gjtorikian/html-pipeline */
const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} -]/gu, '')
    .replaceAll(' ', '-')

const runbook = readFileSync('docs/runbook.md', 'utf8')
const paragraphs = new Map(
  runbook
    .split(/^## /m)
    .slice(1)
    .map((text) => [anchorOf(text.split('\n', 1)[0] ?? ''), text] as const),
)

describe('the alarms', () => {
  test('the stack has an alarm for each watched condition', () => {
    const thresholds = alarms.map(({ id, MetricName, Metrics, Threshold }) => [
      id.replace(/^Watching|[0-9A-F]{8}$/g, ''),
      MetricName ?? Metrics[0].Label,
      Threshold,
    ])
    expect(thresholds).toEqual([
      ['InDoubt', 'OldestDoubtMinutes', 60],
      ['QueueWaits', 'OldestQueuedMinutes', 30],
      ['Units', 'UnitsLines', 1],
      ['AccountNearlyUsed', 'AccountUsedPercent', 90],
      ['AuditNotOk', 'AuditNotOk', 1],
      ['Keys', 'KeysLines', 1],
      ['NotTold', 'NotToldLines', 1],
      ['PlanNotDone', 'PlansNotDone', 1],
      ['SweepSilent', 'OldestDoubtMinutes', 1],
      ['DeadLetters', 'ApproximateNumberOfMessagesVisible', 1],
      ['IteratorAge', 'IteratorAge', 600_000],
      ['FunctionErrors', 'Errors', 1],
      ['OtherErrors', 'OtherErrorLines', 1],
      ['Throttles', 'Throttles', 1],
      ['ServerErrors', 'Url5xxCount', 5],
      ['SlowAnswers', 'UrlRequestLatency', 1],
      ['Table', 'TableLines', 1],
      ['TableStrained', 'TransactionConflict', 100],
      ['ItemSize', 'Bytes', 307_200],
    ])
    expect(alarms).toHaveLength(figures().alarms)
  })

  test('each alarm states its condition and links a runbook paragraph with a query, a first look and a remedy', () => {
    for (const { id, AlarmDescription } of alarms) {
      const [, sentence, anchor = ''] = /^(.{20,}\.) docs\/runbook\.md#([a-z-]+)$/.exec(AlarmDescription) ?? []
      expect(sentence, id).toBeDefined()
      expect(paragraphs.get(anchor), `${id}: ${anchor}`).toMatch(
        /```\nfields [^`]+\n```[\s\S]*\*First look\*[\s\S]*\*Remedy\*/,
      )
    }
  })

  test('the query of a paragraph finds the lines that its alarm counts, by events that the log has', () => {
    const queryOf = (name: string) => {
      const [, anchor = ''] = /#([a-z-]+)$/.exec(alarmNamed(name)?.AlarmDescription) ?? []
      return /```\n(fields [^`]+)\n```/.exec(paragraphs.get(anchor) ?? '')?.[1] ?? ''
    }
    const listedIn = (query: string, member: string) => {
      const [, list = ''] = new RegExp(`${member} in \\[([^\\]]*)\\]`).exec(query) ?? []
      return [...list.matchAll(/"([^"]+)"/g)].map(([, each]) => each)
    }
    for (const [name, events] of Object.entries(eventsOf))
      expect([name, listedIn(queryOf(name), 'event')]).toEqual([name, expect.arrayContaining([...events])])
    expect(listedIn(queryOf('Table'), 'cause.name')).toEqual([...causesOfTable])
    const known = [...documentedEvents.keys(), ...Object.keys(schemas)]
    for (const { id } of alarms) {
      const named = [...queryOf(id.replace(/^Watching|[0-9A-F]{8}$/g, '')).matchAll(/event = "([^"]+)"/g)]
      const events = [...named.map(([, event]) => event), ...listedIn(queryOf(id), 'event')]
      expect(events.filter((event) => !known.includes(event ?? ''))).toEqual([])
    }
  })

  test('the first deployment creates the alarms, and the next one lets them send mail', () => {
    const first = synthesize({ context: { alarmEmail: 'ops@example.com', firstLedger: 'true' }, env: firsts })
    const isOnIn = (of: typeof ofType) => watching(of).map(({ Properties }) => Properties.ActionsEnabled)
    expect(isOnIn(first.ofType)).toEqual(alarms.map(() => false))
    expect(isOnIn(ofType)).toEqual(alarms.map(() => true))
  })

  test('only the alarm of the sweep is raised by missing figures', () => {
    for (const { id, TreatMissingData, ComparisonOperator } of alarms) {
      const isOfSilence = id.startsWith('WatchingSweepSilent')
      expect([id, TreatMissingData]).toEqual([id, isOfSilence ? 'breaching' : 'notBreaching'])
      expect(ComparisonOperator).toBe(isOfSilence ? 'LessThanThreshold' : 'GreaterThanOrEqualToThreshold')
    }
  })

  test('alarms count all functions and both readers of the stream', () => {
    const functionsIn = (name: string) =>
      alarmNamed(name)
        .Metrics.filter(({ MetricStat }: { MetricStat?: object }) => MetricStat)
        .map(
          ({ MetricStat: { Metric } }: { MetricStat: { Metric: { MetricName: string; Dimensions?: Dimension[] } } }) =>
            (Metric.Dimensions?.[0]?.Value ?? Metric.MetricName).replace(/Function$/, ''),
        )
    // A call with a broken answer fails, and its line is counted.
    expect(functionsIn('FunctionErrors')).toEqual([
      'Api',
      'Dashboard',
      'Mcp',
      'SlackApp',
      'Scheduled',
      'OutboxStart',
      'OutboxTell',
      'KnownLines',
      'FunctionErrorsLines',
      'BrokenLines',
    ])
    expect(functionsIn('Throttles')).toHaveLength(7)
    expect(functionsIn('IteratorAge')).toEqual(['OutboxStart', 'OutboxTell'])
  })

  test('alarms send e-mail only to a given address', () => {
    expect(ofType('AWS::SNS::Subscription').map(({ Properties }) => plain(Properties))).toEqual([
      { Protocol: 'email', Endpoint: 'ops@example.com', TopicArn: 'WatchingTopic' },
    ])
    for (const { AlarmActions } of alarms) expect(AlarmActions).toEqual(['WatchingTopic'])
    for (const { OKActions = ['WatchingTopic'] } of alarms) expect(OKActions).toEqual(['WatchingTopic'])
    const quiet = synthesize()
    expect(quiet.ofType('AWS::SNS::Topic')).toEqual([])
    expect(watching(quiet.ofType)).toHaveLength(alarms.length)
  })
})

test('the end of an alarm is mailed if this end means that the trouble is over', () => {
  const nameOf = ({ id }: { id: string }) => id.replace(/^Watching|[0-9A-F]{8}$/g, '')
  expect(alarms.filter(({ OKActions }) => OKActions).map(nameOf)).toEqual([
    'InDoubt',
    'QueueWaits',
    'AccountNearlyUsed',
    'AuditNotOk',
    'SweepSilent',
    'DeadLetters',
    'IteratorAge',
    'FunctionErrors',
    'Throttles',
    'ServerErrors',
    'SlowAnswers',
    'TableStrained',
    'ItemSize',
  ])
  // An hour without another such line does not mean that the trouble is over.
  const counting = alarms.filter(({ MetricName }) => MetricName in filters)
  expect(alarms.filter(({ OKActions }) => !OKActions).map(nameOf)).toEqual(counting.map(nameOf))
})

describe('the alarms of AWS metrics', () => {
  const metricsOf = (name: string) => {
    const { Metrics, Namespace, MetricName, Dimensions, Statistic } = alarmNamed(name)
    const all = Metrics?.flatMap(({ MetricStat }: { MetricStat?: object }) => MetricStat ?? []) ?? [
      { Metric: { Namespace, MetricName, Dimensions }, Stat: Statistic },
    ]
    return all.map(({ Metric, Stat }: { Metric: typeof all; Stat: string }) => [
      `${Metric.Namespace} ${Metric.MetricName} ${Stat}`,
      ...(Metric.Dimensions ?? []).map(({ Name, Value }: Dimension) => `${Name}=${Value}`).toSorted(),
    ])
  }

  test('the alarms watch the table in each operation that functions call', async () => {
    const store = readFileSync('shared/ledger/store/dynamo-store.ts', 'utf8')
    const called = [...store.matchAll(/new (\w+)Command\(/g)].map(([, name]) => name)
    // Each process calls DescribeTable once, at its start.
    const operations = called.filter((name) => name !== 'DescribeTable').toSorted()
    expect(operations).toEqual(['BatchGetItem', 'Query', 'TransactWriteItems'])
    const ofTable = metricsOf('TableStrained').filter(([metric]: [string]) => metric.startsWith('AWS/DynamoDB'))
    expect(ofTable.toSorted()).toEqual([
      ...['SystemErrors', 'ThrottledRequests'].flatMap((metric) =>
        operations.map((name) => [`AWS/DynamoDB ${metric} Sum`, `Operation=${name}`, 'TableName=LedgerTable']),
      ),
      ['AWS/DynamoDB TransactionConflict Sum', 'TableName=LedgerTable'],
    ])
  })

  test.each(['FunctionErrors', 'ServerErrors', 'SlowAnswers', 'TableStrained'])(
    '%s ignores missing data, which would keep an alarm of DynamoDB in its state, and has at most ten metrics',
    (name) => {
      const [{ Expression }, ...used] = alarmNamed(name)?.Metrics ?? []
      expect(used.map(({ Id }: { Id: string }) => Expression.includes(`FILL(${Id}, 0)`))).toEqual(used.map(() => true))
      expect(used.length).toBeLessThanOrEqual(10)
    },
  )

  test.each(['ApiFunction', 'DashboardFunction', 'McpFunction', 'SlackAppFunction'])(
    'the URL of %s is watched by its function',
    (fn) => {
      expect(metricsOf('ServerErrors')).toContainEqual(['AWS/Lambda Url5xxCount Sum', `FunctionName=${fn}`])
      expect(metricsOf('SlowAnswers')).toContainEqual(['AWS/Lambda UrlRequestLatency Maximum', `FunctionName=${fn}`])
    },
  )

  test('the alarms watch all functions with a URL', () => {
    // The API has two URLs, and the figures of its function count both.
    const watched = ofType('AWS::Lambda::Url').map(({ Properties }) => plain(Properties.TargetFunctionArn))
    expect(new Set(watched).size).toBe(4)
  })
})

describe('the topic', () => {
  test('only alarms of this account and region may publish to the topic', () => {
    const policies = ofType('AWS::SNS::TopicPolicy').map(({ Properties }) => plain(Properties).PolicyDocument.Statement)
    expect(policies).toMatchObject([
      [
        { Effect: 'Deny', Action: 'sns:Publish', Condition: { Bool: { 'aws:SecureTransport': 'false' } } },
        {
          Effect: 'Allow',
          Action: 'sns:Publish',
          Resource: 'WatchingTopic',
          Principal: { Service: 'cloudwatch.amazonaws.com' },
          Condition: {
            ArnLike: { 'aws:SourceArn': 'arn:AWS::Partition:cloudwatch:AWS::Region:AWS::AccountId:alarm:*' },
          },
        },
      ],
    ])
  })
})

describe('the metrics', () => {
  test('log metrics count the lines that the guard writes', () => {
    const made = ofType('AWS::Logs::MetricFilter').filter(({ id }) => id.startsWith('Watching'))
    const MetricNamespace = 'UnitGuard'
    expect(made.map(({ Properties }) => plain(Properties))).toMatchObject(
      Object.entries(filters).map(([MetricName, FilterPattern]) => ({
        LogGroupName: 'Log',
        FilterPattern,
        MetricTransformations: [{ MetricNamespace, MetricName, MetricValue: '1' }],
      })),
    )
  })

  test('each metric raises an alarm, because CloudWatch bills metrics', () => {
    for (const name of [...Object.keys(vitals), ...Object.keys(filters)])
      expect(JSON.stringify(alarms)).toContain(`"MetricName":"${name}"`)
  })
})
