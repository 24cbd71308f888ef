import {
  GraphWidget,
  type GraphWidgetProps,
  type IMetric,
  type IWidget,
  LogQueryWidget,
  MathExpression,
} from 'aws-cdk-lib/aws-cloudwatch'
import type { LogGroup } from 'aws-cdk-lib/aws-logs'
import type { LedgerTable } from '../ledger-table.ts'
import type { Watched } from './alarm-table.ts'
import {
  conflictsOf,
  errorLinesMetric,
  type LogMetrics,
  ofAll,
  ofEach,
  ofOperations,
  sumOf,
  withUrl,
} from './metrics.ts'

const graph = (title: string, left: IMetric[], more: Partial<GraphWidgetProps> = {}): IWidget =>
  new GraphWidget({ title, left, width: 8, ...more })

export interface Shown extends Omit<Watched, 'metrics'> {
  readonly ledger: LedgerTable
  readonly logGroup: LogGroup
}

/** The rows below the states of the alarms. */
export const rowsOf = (
  { functions, streamReaders, deadLetters, ledger, logGroup }: Shown,
  metrics: LogMetrics,
): IWidget[][] => {
  const { table } = ledger
  const lambdas = Object.values(functions).map(({ lambda }) => lambda)
  const errorsByEvent = new MathExpression({
    expression: `SEARCH('{${metrics.namespace},event} MetricName="${errorLinesMetric}"', 'Sum', 300)`,
    label: '',
  })
  return [
    [
      graph('Account used, %', [metrics.vital('AccountUsedPercent')], { leftYAxis: { min: 0 } }),
      graph('Oldest doubt, minutes', [metrics.vital('OldestDoubtMinutes')]),
      graph('Errors in the log, by event', [errorsByEvent]),
    ],
    rowOfUpdates(metrics),
    [
      graph(
        'Calls',
        lambdas.map((lambda) => lambda.metricInvocations()),
      ),
      graph(
        'Duration, p95',
        lambdas.map((lambda) => lambda.metricDuration({ statistic: 'p95' })),
      ),
      graph('Errors, throttles, dead letters', [
        ofAll(functions, 'Errors', 'SUM'),
        ofAll(functions, 'Throttles', 'SUM'),
        deadLetters.queue.metricApproximateNumberOfMessagesVisible(),
      ]),
    ],
    [
      graph('Behind the stream, ms', [ofAll(streamReaders, 'IteratorAge', 'MAX')]),
      graph('Size of book and definitions, bytes', [metrics.vital('BookBytes'), metrics.vital('DefinitionsBytes')], {
        right: [metrics.vital('OpenAnnouncements')],
      }),
      graph(
        'Table: units written and read',
        [
          table.metricConsumedWriteCapacityUnits({ statistic: 'Sum' }),
          table.metricConsumedReadCapacityUnits({ statistic: 'Sum' }),
        ],
        { right: [metrics.errorLines('not-admitted')] },
      ),
    ],
    [
      graph('Answers 5xx', Object.values(ofEach(withUrl(functions), 'Url5xxCount', 'Sum'))),
      graph('Longest answer, ms', Object.values(ofEach(withUrl(functions), 'UrlRequestLatency', 'Maximum'))),
      graph('Table: conflicts, throttles, errors', [
        conflictsOf(ledger),
        sumOf(ofOperations(ledger, 'ThrottledRequests'), 'ThrottledRequests'),
        sumOf(ofOperations(ledger, 'SystemErrors'), 'SystemErrors'),
      ]),
    ],
    [latestErrors(logGroup)],
  ]
}

const rowOfUpdates = (metrics: LogMetrics): IWidget[] => [
  graph(
    'Updates, by outcome',
    (['Settled', 'Released', 'InDoubt', 'Refused'] as const).map((name) => metrics.counted(name)),
  ),
  graph('Units charged', [metrics.counted('UnitsCharged')], {
    right: [metrics.vital('OldestQueuedMinutes'), metrics.counted('Conflicts')],
  }),
  graph('Service: estimate and run, p95', [metrics.counted('EstimateMs'), metrics.counted('RunMs')]),
]

const latestErrors = ({ logGroupName }: LogGroup): IWidget =>
  new LogQueryWidget({
    title: 'The latest errors',
    logGroupNames: [logGroupName],
    queryLines: ['fields at, event, update, cause.message', 'filter level = "error"', 'sort at desc', 'limit 50'],
    width: 24,
  })
