import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { counts, vitals } from '../../../shared/platform/metrics.ts'
import { plain, synthesize } from '../../support/infra/stack.ts'

const { ofType } = synthesize({ context: { alarmEmail: 'ops@example.com' } })
// Those of the canary are for CodeDeploy: test/infra/alarms/canary.test.ts.
const watching = (of: typeof ofType) => of('AWS::CloudWatch::Alarm').filter(({ id }) => id.startsWith('Watching'))
const alarms = watching(ofType).map(({ id, Properties }) => ({ id, ...plain(Properties) }))
const alarmNamed = (name: string) => alarms.find(({ id }) => id.startsWith(`Watching${name}`))

/** As GitHub makes them of headings. https://github.com/gjtorikian/html-pipeline */
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
    const thresholds = alarms.map(({ id, MetricName, Metrics, Dimensions, Threshold }) => [
      id.replace(/^Watching|[0-9A-F]{8}$/g, ''),
      Dimensions?.[0]?.Name === 'event' ? Dimensions[0].Value : (MetricName ?? Metrics[0].Label),
      Threshold,
    ])
    expect(thresholds).toEqual([
      ['InDoubt', 'OldestDoubtMinutes', 60],
      ['QueueWaits', 'OldestQueuedMinutes', 30],
      ['Overrun', 'overrun', 1],
      ['ImpossibleUnits', 'impossible-units', 1],
      ['NotSettled', 'not-settled', 1],
      ['NotFrozen', 'not-frozen', 1],
      ['AuditNotOk', 'AuditNotOk', 1],
      ['NotAudited', 'not-audited', 1],
      ['AccountNearlyUsed', 'AccountUsedPercent', 90],
      ['TokenRefused', 'token-refused', 1],
      ['TokenExpires', 'service-token-expires', 1],
      ['SecretUnavailable', 'secret-unavailable', 1],
      ['IssuerUnavailable', 'issuer-unavailable', 1],
      ['IssuerRenamed', 'issuer-renamed', 1],
      ['ForeignData', 'foreign-data', 1],
      ['PlanNotDone', 'PlansNotDone', 1],
      ['PlanNotRun', 'plan-not-run', 1],
      ['AnnouncementLost', 'announcement-lost', 1],
      ['EventDead', 'event-dead', 1],
      ['SweepSilent', 'OldestDoubtMinutes', 1],
      ['DeadLetters', 'ApproximateNumberOfMessagesVisible', 1],
      ['FunctionErrors', 'Errors', 1],
      ['RequestsFailed', 'failed', 1],
      ['OtherErrors', 'OtherErrorLines', 1],
      ['Throttles', 'Throttles', 1],
      ['IteratorAge', 'IteratorAge', 600_000],
      ['ApiUrl5xx', 'Url5xxCount', 5],
      ['ApiUrlSlow', 'UrlRequestLatency', 90_000],
      ['DashboardUrl5xx', 'Url5xxCount', 5],
      ['DashboardUrlSlow', 'UrlRequestLatency', 90_000],
      ['McpUrl5xx', 'Url5xxCount', 5],
      ['McpUrlSlow', 'UrlRequestLatency', 90_000],
      ['SlackUrl5xx', 'Url5xxCount', 5],
      ['SlackUrlSlow', 'UrlRequestLatency', 3_000],
      ['Conflicts', 'TransactionConflict', 100],
      ['TableThrottles', 'ThrottledRequests', 1],
      ['TableErrors', 'SystemErrors', 1],
      ['BookSize', 'BookBytes', 307_200],
      ['DefinitionsSize', 'DefinitionsBytes', 307_200],
    ])
  })

  test('each alarm states its condition and links a runbook paragraph with a first look and a remedy', () => {
    for (const { id, AlarmDescription } of alarms) {
      const [, sentence, anchor = ''] = /^(.{20,}\.) docs\/runbook\.md#([a-z-]+)$/.exec(AlarmDescription) ?? []
      expect(sentence, id).toBeDefined()
      expect(paragraphs.get(anchor), `${id}: ${anchor}`).toMatch(/\*First look\*[\s\S]*\*Remedy\*/)
    }
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
        .map(({ MetricStat }: { MetricStat: { Metric: { Dimensions: [{ Value: string }] } } }) =>
          MetricStat.Metric.Dimensions[0].Value.replace(/Function$/, ''),
        )
    // The calls of answers that broke fail, and are counted by their lines.
    expect(functionsIn('FunctionErrors')).toEqual([
      'Api',
      'Dashboard',
      'Mcp',
      'SlackApp',
      'Scheduled',
      'OutboxStart',
      'OutboxTell',
      'answer-broken',
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

test('the end of an alarm is mailed where it says that the trouble is over', () => {
  const nameOf = ({ id }: { id: string }) => id.replace(/^Watching|[0-9A-F]{8}$/g, '')
  expect(alarms.filter(({ OKActions }) => OKActions).map(nameOf)).toEqual([
    ...['InDoubt', 'QueueWaits', 'AuditNotOk', 'AccountNearlyUsed', 'SweepSilent', 'DeadLetters', 'FunctionErrors'],
    ...[
      'Throttles',
      'IteratorAge',
      'ApiUrl5xx',
      'ApiUrlSlow',
      'DashboardUrl5xx',
      'DashboardUrlSlow',
      'McpUrl5xx',
      'McpUrlSlow',
    ],
    ...['SlackUrl5xx', 'SlackUrlSlow', 'Conflicts', 'TableThrottles', 'TableErrors', 'BookSize', 'DefinitionsSize'],
  ])
  // An hour without another such line settles nothing.
  const counting = alarms.filter(
    ({ Dimensions, MetricName }) =>
      Dimensions?.[0]?.Name === 'event' || ['PlansNotDone', 'OtherErrorLines'].includes(MetricName),
  )
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
      ...Metric.Dimensions.map(({ Name, Value }: { Name: string; Value: string }) => `${Name}=${Value}`).toSorted(),
    ])
  }

  test('the table is watched in each operation that functions call', async () => {
    const store = readFileSync('shared/ledger/store/dynamo-store.ts', 'utf8')
    const called = [...store.matchAll(/new (\w+)Command\(/g)].map(([, name]) => name)
    // Once in each process, at its start.
    const operations = called.filter((name) => name !== 'DescribeTable').toSorted()
    expect(operations).toEqual(['BatchGetItem', 'Query', 'TransactWriteItems'])
    for (const [alarm, metric] of [
      ['TableErrors', 'SystemErrors'],
      ['TableThrottles', 'ThrottledRequests'],
    ] as const)
      expect(metricsOf(alarm).toSorted()).toEqual(
        operations.map((name) => [`AWS/DynamoDB ${metric} Sum`, `Operation=${name}`, 'TableName=LedgerTable']),
      )
    expect(metricsOf('Conflicts')).toEqual([['AWS/DynamoDB TransactionConflict Sum', 'TableName=LedgerTable']])
  })

  test('no alarm of DynamoDB sees missing data, at which it would keep its state', () => {
    for (const name of ['Conflicts', 'TableErrors', 'TableThrottles']) {
      const { Metrics } = alarmNamed(name)
      const [{ Expression }, ...used] = Metrics
      expect(used.map(({ Id }: { Id: string }) => Expression.includes(`FILL(${Id}, 0)`))).toEqual(used.map(() => true))
    }
  })

  test.each([
    ['Api', 'ApiFunction'],
    ['Dashboard', 'DashboardFunction'],
    ['Mcp', 'McpFunction'],
    ['Slack', 'SlackAppFunction'],
  ])('the URL of %s is watched by its function', (name, fn) => {
    expect(metricsOf(`${name}Url5xx`)).toEqual([['AWS/Lambda Url5xxCount Sum', `FunctionName=${fn}`]])
    expect(metricsOf(`${name}UrlSlow`)).toEqual([['AWS/Lambda UrlRequestLatency Maximum', `FunctionName=${fn}`]])
  })

  test('all functions with a URL are watched', () => {
    // The two of the API belong to one function, whose figures count both.
    const watched = ofType('AWS::Lambda::Url').map(({ Properties }) => plain(Properties.TargetFunctionArn))
    expect(new Set(watched).size).toBe(4)
  })
})

test('the CloudWatch dashboard has a name of its own in each region', () => {
  const names = ofType('AWS::CloudWatch::Dashboard').map(({ Properties }) => plain(Properties.DashboardName))
  expect(names).toEqual(['unit-guard-AWS::Region'])
})

describe('the topic', () => {
  test('alarms of this account and region may publish to the topic', () => {
    const policies = ofType('AWS::SNS::TopicPolicy').map(({ Properties }) => plain(Properties).PolicyDocument.Statement)
    expect(policies).toMatchObject([
      [
        { Effect: 'Deny', Action: 'sns:Publish', Condition: { Bool: { 'aws:SecureTransport': 'false' } } },
        {
          ...{ Effect: 'Allow', Action: 'sns:Publish', Resource: 'WatchingTopic' },
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
    const filters = ofType('AWS::Logs::MetricFilter').filter(({ id }) => id.startsWith('Watching'))
    expect(filters.map(({ Properties }) => plain(Properties))).toMatchObject([
      {
        LogGroupName: 'Log',
        FilterPattern: '{ $.level = "error" }',
        MetricTransformations: [
          { MetricNamespace: 'UnitGuard', MetricName: 'ErrorLines', Dimensions: [{ Key: 'event', Value: '$.event' }] },
        ],
      },
      { LogGroupName: 'Log', MetricTransformations: [{ MetricNamespace: 'UnitGuard', MetricName: 'OtherErrorLines' }] },
      {
        LogGroupName: 'Log',
        FilterPattern:
          '{ $.event = "occurrence" && ($.state = "missed" || $.state = "stopped" || $.refused > 0 || $.unsent > 0) }',
        MetricTransformations: [{ MetricNamespace: 'UnitGuard', MetricName: 'PlansNotDone' }],
      },
    ])
  })

  test('what requests and jobs count is on the dashboard, and what the sweep measures too or raises an alarm', () => {
    const shown = JSON.stringify(ofType('AWS::CloudWatch::Dashboard'))
    for (const name of Object.keys(counts)) expect(shown).toContain(name)
    for (const name of Object.keys(vitals)) expect(shown + JSON.stringify(alarms)).toContain(name)
  })
})
