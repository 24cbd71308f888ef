import { ComparisonOperator, type IMetric, MathExpression, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch'
import { Duration } from 'aws-cdk-lib/core'
import type { Vital } from '../../shared/platform/metrics.ts'
import type { DeadLetters } from '../dead-letters.ts'
import type { GuardFunction } from '../guard-function.ts'
import type { LedgerTable } from '../ledger-table.ts'
import type { LineMetric } from './errors.ts'
import { conflictsOf, filled, fiveMinutes, type LogMetrics, ofAll, ofEach, ofOperations, withUrl } from './metrics.ts'

/**
 * `once`: one period of five minutes raises the alarm. `lasting`: three such periods within an hour raise it, so short
 * trouble stays silent. Both alarms end after a quiet hour, so they do not flap. `single`: the latest period decides.
 */
type Pace = 'once' | 'lasting' | 'single'

const paces = {
  once: { datapointsToAlarm: 1, evaluationPeriods: 12 },
  lasting: { datapointsToAlarm: 3, evaluationPeriods: 12 },
  single: { datapointsToAlarm: 1, evaluationPeriods: 1 },
} as const satisfies Record<Pace, object>

/** One alarm for each thing that an operator has to do. The runbook says what to do, and has a query for the log lines. */
export interface Watch {
  readonly name: string
  readonly says: string
  readonly anchor: string
  readonly metric: IMetric
  readonly atLeast: number
  /** `once` by default. */
  readonly pace?: Pace
  /** Raised when the metric is below `atLeast` or has no value. Only for a metric that always has values. */
  readonly whenSilent?: true
  /** Counts lines of the log. An hour without a line does not mean that the matter is settled, so no OK is sent. */
  readonly countsLines?: true
}

/** DynamoDB's limit is 400 KB: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html */
const largeItemBytes = 300 * 1024
const tenMinutesMs = 600_000
/** Conflicts are retried. Fifty callers at once on one book cause this many conflicts in a minute (docs/performance.md). */
const manyConflicts = 100
/** Answers in five minutes. Fewer may be chance; this many mean that requests of callers fail again and again. */
const manyServerErrors = 5
/** After three seconds Slack tells the user that the app does not answer. */
const slackWaitsMs = 3_000
/**
 * A run takes at most a minute, and its settlement 12 seconds. Lambda ends the function after two minutes. An answer slower
 * than this is close to that limit.
 */
const slowMs = 90_000

export interface Watched {
  readonly functions: Readonly<Record<string, GuardFunction>>
  readonly streamReaders: Readonly<Record<string, GuardFunction>>
  readonly deadLetters: DeadLetters
  readonly metrics: LogMetrics
  readonly ledger: Pick<LedgerTable, 'table'>
}

export const watchesOf = (watched: Watched): readonly Watch[] => [
  ...unitWatches(watched.metrics),
  ...peopleWatches(watched.metrics),
  ...jobWatches(watched),
  ...functionWatches(watched),
  ...tableWatches(watched),
]

const fromLines = (metrics: LogMetrics, metric: LineMetric, name: string, says: string, anchor: string): Watch => ({
  name,
  says,
  anchor,
  metric: metrics.lines(metric),
  atLeast: 1,
  countsLines: true,
})

const fromVital = (metrics: LogMetrics, vital: Vital, watch: Omit<Watch, 'metric'>): Watch => ({
  ...watch,
  metric: metrics.vital(vital),
})

const unitWatches = (metrics: LogMetrics): readonly Watch[] => [
  fromVital(metrics, 'OldestDoubtMinutes', {
    name: 'InDoubt',
    says: 'An update has been in doubt for an hour',
    anchor: 'in-doubt',
    atLeast: 60,
  }),
  fromVital(metrics, 'OldestQueuedMinutes', {
    name: 'QueueWaits',
    says: 'An update has been waiting for half an hour',
    anchor: 'updates-wait',
    atLeast: 30,
  }),
  fromLines(metrics, 'UnitsLines', 'Units', 'The booked units may differ from the units that were spent', 'units'),
  fromVital(metrics, 'AccountUsedPercent', {
    name: 'AccountNearlyUsed',
    says: 'The account has used nine tenths of its month’s units',
    anchor: 'the-account-is-nearly-used',
    atLeast: 90,
  }),
  {
    name: 'AuditNotOk',
    says: 'A counter differs from the sum of the lines that moved it',
    anchor: 'the-audit-is-not-ok',
    atLeast: 1,
    pace: 'single',
    metric: metrics.vital('AuditNotOk', 'Maximum', Duration.days(1)),
  },
]

const peopleWatches = (metrics: LogMetrics): readonly Watch[] => [
  fromLines(metrics, 'KeysLines', 'Keys', 'A secret, a token or an issuer’s keys cannot be used', 'keys'),
  fromLines(metrics, 'NotToldLines', 'NotTold', 'A message to Slack or an event was not delivered', 'not-told'),
  fromLines(
    metrics,
    'PlansNotDone',
    'PlanNotDone',
    'A plan was missed, stopped, or could not update all of its projects',
    'a-plan-was-not-done',
  ),
]

const jobWatches = ({ metrics, streamReaders, deadLetters }: Watched): readonly Watch[] => [
  {
    name: 'SweepSilent',
    says: 'No sweep has reported its figures for a quarter of an hour',
    anchor: 'the-sweep-is-silent',
    atLeast: 1,
    pace: 'single',
    whenSilent: true,
    metric: metrics.vital('OldestDoubtMinutes', 'SampleCount', Duration.minutes(15)),
  },
  {
    name: 'DeadLetters',
    says: 'An undelivered event, failed call or failed batch is in the dead-letter queue',
    anchor: 'dead-letters',
    atLeast: 1,
    metric: deadLetters.queue.metricApproximateNumberOfMessagesVisible({ statistic: 'Maximum', period: fiveMinutes }),
  },
  {
    name: 'IteratorAge',
    says: 'A reader is ten minutes behind the table’s stream',
    anchor: 'iterator-age',
    metric: ofAll(streamReaders, 'IteratorAge', 'MAX'),
    atLeast: tenMinutesMs,
  },
]

const functionWatches = ({ metrics, functions }: Watched): readonly Watch[] => [
  {
    name: 'FunctionErrors',
    says: 'A function has failed, or requests were answered 500 or 503',
    anchor: 'function-errors',
    metric: failuresOf(functions, metrics),
    atLeast: 1,
  },
  fromLines(
    metrics,
    'OtherErrorLines',
    'OtherErrors',
    'An error was logged that has no alarm of its own',
    'other-errors',
  ),
  {
    name: 'Throttles',
    says: 'Lambda throttled calls, because no concurrency was left',
    anchor: 'throttles',
    metric: ofAll(functions, 'Throttles', 'SUM'),
    atLeast: 1,
  },
  {
    name: 'ServerErrors',
    says: 'Requests keep getting 5xx answers that no logged error explains',
    anchor: 'server-errors',
    metric: serverErrorsOf(functions, metrics),
    atLeast: manyServerErrors,
    pace: 'lasting',
  },
  {
    name: 'SlowAnswers',
    says: 'Answers are so slow that callers or Slack give up',
    anchor: 'slow-answers',
    metric: slowOf(functions, metrics),
    atLeast: 1,
    pace: 'lasting',
  },
]

/** An alarm may read at most ten metrics. https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/Create-alarm-on-metric-math-expression.html */
function failuresOf(functions: Watched['functions'], metrics: LogMetrics): MathExpression {
  const errors = ofEach(functions, 'Errors', 'Sum')
  const known = metrics.lines('KnownLines')
  const [lines, broken] = [metrics.lines('FunctionErrorsLines'), metrics.lines('BrokenLines')]
  return new MathExpression({
    // A call fails if its answer breaks off, but the function did nothing wrong.
    expression: `IF(FILL(known, 0) > 0, 0, ${filled(errors)} - FILL(broken, 0)) + FILL(lines, 0)`,
    usingMetrics: { ...errors, known, lines, broken },
    label: 'Errors',
    period: fiveMinutes,
  })
}

/** Other alarms have mailed these failures already, so they are not counted again. */
function unlessMailed(functions: Watched['functions'], metrics: LogMetrics) {
  const errors = ofEach(withUrl(functions), 'Errors', 'Sum')
  const mailed = { known: metrics.lines('KnownLines'), lines: metrics.lines('FunctionErrorsLines') }
  return { errors, mailed, isMailed: `${filled(mailed)} > 0` }
}

/** https://docs.aws.amazon.com/lambda/latest/dg/urls-monitoring.html */
function serverErrorsOf(functions: Watched['functions'], metrics: LogMetrics): MathExpression {
  const { errors, mailed, isMailed } = unlessMailed(functions, metrics)
  const answers = ofEach(withUrl(functions), 'Url5xxCount', 'Sum')
  return new MathExpression({
    expression: `IF(${isMailed}, 0, ${filled(answers)} - ${filled(errors)})`,
    usingMetrics: { ...answers, ...errors, ...mailed },
    label: 'Url5xxCount',
    period: fiveMinutes,
  })
}

/** Counts the functions whose slowest answer was too slow, because AWS offers only average and maximum. */
function slowOf(functions: Watched['functions'], metrics: LogMetrics): MathExpression {
  const { errors, mailed, isMailed } = unlessMailed(functions, metrics)
  const answers = ofEach(withUrl(functions), 'UrlRequestLatency', 'Maximum')
  const slow = Object.keys(answers).map((id) => {
    const atLeast = id.endsWith('_slack') ? slackWaitsMs : slowMs
    return `(FILL(${id}, 0) >= ${atLeast})`
  })
  return new MathExpression({
    expression: `IF(${isMailed}, 0, IF(${filled(errors)} > 0, 0, ${slow.join(' + ')}))`,
    usingMetrics: { ...answers, ...errors, ...mailed },
    label: 'UrlRequestLatency',
    period: fiveMinutes,
  })
}

const tableWatches = ({ metrics, ledger }: Watched): readonly Watch[] => [
  fromLines(metrics, 'TableLines', 'Table', 'The table did not answer, or accepted no write', 'the-table'),
  {
    name: 'TableStrained',
    says: 'The table keeps throttling, failing or having conflicts',
    anchor: 'the-table-is-strained',
    metric: strainOf(ledger, metrics),
    atLeast: manyConflicts,
    pace: 'lasting',
  },
  {
    name: 'ItemSize',
    says: 'The book or the definitions are near DynamoDB’s item limit',
    anchor: 'item-size',
    atLeast: largeItemBytes,
    metric: new MathExpression({
      expression: 'MAX([book, definitions])',
      usingMetrics: { book: metrics.vital('BookBytes'), definitions: metrics.vital('DefinitionsBytes') },
      label: 'Bytes',
      period: fiveMinutes,
    }),
  },
]

/** A throttled or failed request counts as much as `manyConflicts`. */
function strainOf(ledger: Watched['ledger'], metrics: LogMetrics): MathExpression {
  const [throttled, failed] = [ofOperations(ledger, 'ThrottledRequests'), ofOperations(ledger, 'SystemErrors')]
  const given = { ...throttled, ...failed, contended: metrics.lines('ContentionLines') }
  const conflicts = conflictsOf(ledger)
  return new MathExpression({
    expression: `IF(FILL(mailed, 0) > 0, 0, FILL(conflicts, 0) + ${manyConflicts} * ${filled(given)})`,
    usingMetrics: { ...given, conflicts, mailed: metrics.lines('TableLines') },
    label: 'TransactionConflict',
    period: fiveMinutes,
  })
}

export const alarmOf = ({ metric, atLeast, whenSilent, pace = 'once' }: Watch) => ({
  metric,
  threshold: atLeast,
  ...paces[pace],
  comparisonOperator: whenSilent
    ? ComparisonOperator.LESS_THAN_THRESHOLD
    : ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
  treatMissingData: whenSilent ? TreatMissingData.BREACHING : TreatMissingData.NOT_BREACHING,
})
