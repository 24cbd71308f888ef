import { ComparisonOperator, type IMetric, MathExpression, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch'
import { Duration } from 'aws-cdk-lib/core'
import type { Vital } from '../../shared/platform/metrics.ts'
import type { DeadLetters } from '../dead-letters.ts'
import type { GuardFunction } from '../guard-function.ts'
import type { LedgerTable } from '../ledger-table.ts'
import {
  conflictsOf,
  fiveMinutes,
  type LogMetrics,
  logMetrics,
  ofAll,
  ofOperations,
  ofUrl,
  withUrl,
} from './metrics.ts'

/**
 * `once`: a single period raises it. `lasting`: three periods of an hour do, so a short trouble that ends by itself
 * stays silent. Both end when an hour was quiet, so they cannot change their state again and again. `single`: its
 * period is as long as that.
 */
type Pace = 'once' | 'lasting' | 'single'

const paces = {
  once: { datapointsToAlarm: 1, evaluationPeriods: 12 },
  lasting: { datapointsToAlarm: 3, evaluationPeriods: 12 },
  single: { datapointsToAlarm: 1, evaluationPeriods: 1 },
} as const satisfies Record<Pace, object>

export interface Watch {
  readonly name: string
  readonly says: string
  readonly anchor: string
  readonly metric: IMetric
  readonly atLeast: number
  /** `once` by default. */
  readonly pace?: Pace
  /** Raised by fewer than `atLeast`, missing figures included: for a metric that always has values. */
  readonly whenSilent?: true
  readonly event?: string
  /** It counts lines of the log: an hour without another one does not say that the matter is settled. */
  readonly countsLines?: true
}

/** DynamoDB's limit is 400 KB: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html */
const largeItemBytes = 300 * 1024
const tenMinutesMs = 600_000
/** Each is retried, and fifty callers at once on one book cause that many in a minute: docs/performance.md. */
const manyConflicts = 100
/** A few are for FunctionErrors and RequestsFailed; these are callers who get no other answer. */
const manyServerErrors = 5
/** After three seconds Slack tells the user that the app does not answer. */
const slackWaitsMs = 3_000
/**
 * A run waits for a minute at most and its settlement for 12 seconds. What takes longer comes near the two minutes after
 * which Lambda ends the function.
 */
const slowMs = 90_000

export interface Watched {
  readonly functions: Readonly<Record<string, GuardFunction>>
  readonly streamReaders: Readonly<Record<string, GuardFunction>>
  readonly deadLetters: DeadLetters
  readonly metrics: LogMetrics
  readonly ledger: Pick<LedgerTable, 'table'>
}

const watchingBy = (metrics: LogMetrics) => ({
  metrics,
  fromLog: (event: string, name: string, says: string, anchor = event): Watch => ({
    ...{ event, name, says, anchor, atLeast: 1, countsLines: true },
    metric: metrics.errorLines(event),
  }),
  fromVital: (vital: Vital, atLeast: number, name: string, says: string, anchor: string): Watch => ({
    ...{ name, says, anchor, atLeast },
    metric: metrics.vital(vital),
  }),
})

type Watching = ReturnType<typeof watchingBy>

/** Why these errors raise no alarm. All others without one of their own raise `OtherErrors`. */
export const errorsWithoutAlarm = {
  'in-doubt': 'most doubts end by themselves; one that is an hour old raises InDoubt',
  'audit-not-ok': 'the metric of the same audit raises AuditNotOk',
  'slack-refused': 'announcement-lost or answer-lost follows, and names the lost message',
  'project-waits': 'the next round retries it; a plan that ends without it raises PlanNotDone',
  'occurrence-failed': 'the next sweep retries it; a plan that does not end in its hour raises PlanNotDone',
  'not-begun': 'the next sweep starts it; not-swept or FunctionErrors follows where the sweep cannot',
  'summary-not-ok': 'the guard counts it again when it logs the line; no answer was wrong',
  'answer-broken': 'the service broke off its answer, and the caller was cut off; FunctionErrors leaves it out',
  'change-not-noted': 'the caller has the service’s answer; there is nothing to repair',
} as const

export const otherErrors = (watches: readonly Watch[]): string => {
  const own = watches.flatMap(({ event }) => event ?? [])
  const others = [...own, ...Object.keys(errorsWithoutAlarm)].map((event) => ` && $.event != "${event}"`)
  return `{ $.level = "error"${others.join('')} }`
}

export function watchesOf(watched: Watched): readonly Watch[] {
  const by = watchingBy(watched.metrics)
  return [
    ...[...unitWatches(by), ...serviceWatches(by), ...functionWatches(by, watched), ...urlWatches(watched)],
    ...[...tableWatches(watched), ...sizeWatches(by)],
  ]
}

const unitWatches = ({ metrics, fromLog, fromVital }: Watching): readonly Watch[] => [
  fromVital('OldestDoubtMinutes', 60, 'InDoubt', 'An update has been in doubt for an hour', 'in-doubt'),
  fromVital('OldestQueuedMinutes', 30, 'QueueWaits', 'An update has been waiting for half an hour', 'updates-wait'),
  fromLog('overrun', 'Overrun', 'An update cost more than was held for it'),
  fromLog('impossible-units', 'ImpossibleUnits', 'An update states units that cannot be'),
  fromLog('not-settled', 'NotSettled', 'The ledger did not take the outcome of an update'),
  fromLog('not-frozen', 'NotFrozen', 'A budget should have been frozen after an overrun, and was not'),
  {
    name: 'AuditNotOk',
    says: 'A counter differs from the sum of the lines that moved it',
    anchor: 'the-audit-is-not-ok',
    metric: metrics.vital('AuditNotOk', 'Maximum', Duration.days(1)),
    atLeast: 1,
    pace: 'single',
  },
  fromLog('not-audited', 'NotAudited', 'The books were not audited in the night'),
  fromVital(
    'AccountUsedPercent',
    90,
    'AccountNearlyUsed',
    'Nine tenths of the units of the account’s month are used',
    'the-account-is-nearly-used',
  ),
]

const serviceWatches = ({ metrics, fromLog }: Watching): readonly Watch[] => [
  fromLog('token-refused', 'TokenRefused', 'The service answers 401 to a token that was just read', 'token-refused'),
  fromLog('service-token-expires', 'TokenExpires', 'The service’s token ends within 14 days, or has ended'),
  fromLog('secret-unavailable', 'SecretUnavailable', 'A secret cannot be read'),
  fromLog('issuer-unavailable', 'IssuerUnavailable', 'An issuer’s keys have not been read for an hour, or never'),
  fromLog(
    'issuer-renamed',
    'IssuerRenamed',
    'An issuer has a name that belongs to another one, so its tokens are refused',
  ),
  fromLog('foreign-data', 'ForeignData', 'The service has data that no update of the guard explains'),
  {
    name: 'PlanNotDone',
    says: 'A plan was missed, stopped, or could not update all of its projects',
    anchor: 'a-plan-was-not-done',
    metric: metrics.sum(logMetrics.plansNotDone),
    atLeast: 1,
    countsLines: true,
  },
  fromLog('plan-not-run', 'PlanNotRun', 'A rule fired for a plan that there is not'),
  fromLog('announcement-lost', 'AnnouncementLost', 'Slack was not told something, and never will be'),
  fromLog('event-dead', 'EventDead', 'A receiver did not take an event, and it is not sent again'),
]

const functionWatches = (
  { metrics, fromLog }: Watching,
  { functions, streamReaders, deadLetters }: Watched,
): readonly Watch[] => [
  {
    name: 'SweepSilent',
    says: 'No sweep has come to its figures for a quarter of an hour',
    anchor: 'the-sweep-is-silent',
    metric: metrics.vital('OldestDoubtMinutes', 'SampleCount', Duration.minutes(15)),
    atLeast: 1,
    pace: 'single',
    whenSilent: true,
  },
  {
    name: 'DeadLetters',
    says: 'Something could not be delivered or begun, and was kept',
    anchor: 'dead-letters',
    metric: deadLetters.queue.metricApproximateNumberOfMessagesVisible({ statistic: 'Maximum', period: fiveMinutes }),
    atLeast: 1,
  },
  {
    name: 'FunctionErrors',
    says: 'A function has failed',
    anchor: 'function-errors',
    // A call whose answer broke off has to fail, but the function did nothing wrong.
    metric: new MathExpression({
      expression: 'failed - FILL(broken, 0)',
      usingMetrics: { failed: ofAll(functions, 'Errors', 'SUM'), broken: metrics.errorLines('answer-broken') },
      label: 'Errors',
      period: fiveMinutes,
    }),
    atLeast: 1,
  },
  fromLog('failed', 'RequestsFailed', 'Requests were answered 500 or 503', 'not-admitted-failed'),
  {
    name: 'OtherErrors',
    says: 'An error was logged that has no alarm of its own',
    anchor: 'other-errors',
    metric: metrics.sum(logMetrics.otherErrorLines),
    atLeast: 1,
    countsLines: true,
  },
  {
    name: 'Throttles',
    says: 'Calls of functions were turned away because no concurrency was left',
    anchor: 'throttles',
    metric: ofAll(functions, 'Throttles', 'SUM'),
    atLeast: 1,
  },
  {
    name: 'IteratorAge',
    says: 'A reader is ten minutes behind the table’s stream',
    anchor: 'iterator-age',
    metric: ofAll(streamReaders, 'IteratorAge', 'MAX'),
    atLeast: tenMinutesMs,
  },
]

const urlWatches = ({ functions }: Watched): readonly Watch[] =>
  withUrl(functions).flatMap(([name, fn]): Watch[] => [
    {
      name: `${title(name)}Url5xx`,
      says: `Requests to the function ${name} are answered 5xx again and again`,
      anchor: 'server-errors',
      metric: ofUrl(fn, 'Url5xxCount'),
      atLeast: manyServerErrors,
      pace: 'lasting',
    },
    {
      name: `${title(name)}UrlSlow`,
      says: `Requests to the function ${name} take so long that callers give up`,
      anchor: 'slow-answers',
      metric: ofUrl(fn, 'UrlRequestLatency'),
      atLeast: name === 'slack' ? slackWaitsMs : slowMs,
      pace: 'lasting',
    },
  ])

const title = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1)

const tableWatches = ({ ledger }: Watched): readonly Watch[] => [
  {
    name: 'Conflicts',
    says: 'Transactions of the table cancel each other again and again',
    anchor: 'conflicts',
    metric: conflictsOf(ledger),
    atLeast: manyConflicts,
    pace: 'lasting',
  },
  {
    name: 'TableThrottles',
    says: 'DynamoDB turns requests of the guard away again and again',
    anchor: 'table-throttles',
    metric: ofOperations(ledger, 'ThrottledRequests'),
    atLeast: 1,
    pace: 'lasting',
  },
  {
    name: 'TableErrors',
    says: 'DynamoDB fails again and again',
    anchor: 'table-errors',
    metric: ofOperations(ledger, 'SystemErrors'),
    atLeast: 1,
    pace: 'lasting',
  },
]

const sizeWatches = ({ fromVital }: Watching): readonly Watch[] => [
  fromVital('BookBytes', largeItemBytes, 'BookSize', 'The book is near DynamoDB’s item limit', 'item-size'),
  fromVital(
    'DefinitionsBytes',
    largeItemBytes,
    'DefinitionsSize',
    'The definitions are near DynamoDB’s item limit',
    'item-size',
  ),
]

export const alarmOf = ({ metric, atLeast, whenSilent, pace = 'once' }: Watch) => ({
  metric,
  threshold: atLeast,
  ...paces[pace],
  comparisonOperator: whenSilent
    ? ComparisonOperator.LESS_THAN_THRESHOLD
    : ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
  treatMissingData: whenSilent ? TreatMissingData.BREACHING : TreatMissingData.NOT_BREACHING,
})
