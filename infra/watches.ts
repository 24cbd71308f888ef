import { ComparisonOperator, type IMetric, MathExpression, Metric, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch'
import { Duration } from 'aws-cdk-lib/core'
import { metricNamespace, type Vital } from '../shared/platform/metrics.ts'
import type { DeadLetters } from './dead-letters.ts'
import type { GuardFunction } from './guard-function.ts'

/** Something that a person should look at, and the paragraph of the runbook that says how. */
export interface Watch {
  readonly name: string
  /** One sentence. */
  readonly says: string
  /** Of the heading in docs/runbook.md. */
  readonly anchor: string
  readonly metric: IMetric
  readonly atLeast: number
  /** So many periods in a row; one, unless said otherwise. */
  readonly periods?: number
  /** Whether silence is worth an alarm: only where something always speaks. */
  readonly whenSilent?: true
}

const fiveMinutes = Duration.minutes(5)
/** Of the 400 KB that DynamoDB takes: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html */
const nearlyTooLarge = 300 * 1024
const oneHourOfMinutes = 60
const tenMinutesMs = 600_000

/** Names of the metrics that are counted from the log. */
export const logMetrics = {
  errorLines: 'ErrorLines',
  otherErrorLines: 'OtherErrorLines',
  plansNotDone: 'PlansNotDone',
} as const

export const vital = (name: Vital, statistic: 'Maximum' | 'SampleCount' = 'Maximum', period = fiveMinutes): Metric =>
  new Metric({ namespace: metricNamespace, metricName: name, statistic, period })

/** How often an event was logged as an error. */
export const errorLines = (event: string): Metric =>
  new Metric({
    namespace: metricNamespace,
    metricName: logMetrics.errorLines,
    dimensionsMap: { event },
    statistic: 'Sum',
    period: fiveMinutes,
  })

/** What one metric is for all of these functions together. */
export function ofAll(functions: Readonly<Record<string, GuardFunction>>, name: string, together: 'SUM' | 'MAX') {
  const idOf = (id: string) => `${name.toLowerCase()}_${id}`
  const usingMetrics = Object.fromEntries(
    Object.entries(functions).map(([id, { lambda }]) => [
      idOf(id),
      lambda.metric(name, { statistic: together === 'SUM' ? 'Sum' : 'Maximum', period: fiveMinutes }),
    ]),
  )
  // Of a list, because what was not called has no figure, and adding it would make none of all.
  const expression = `${together}([${Object.keys(usingMetrics).join(', ')}])`
  return new MathExpression({ expression, usingMetrics, label: name, period: fiveMinutes })
}

export interface Watched {
  readonly functions: Readonly<Record<string, GuardFunction>>
  readonly streamReaders: Readonly<Record<string, GuardFunction>>
  readonly deadLetters: DeadLetters
}

interface LogWatch extends Watch {
  /** The error that it counts. */
  readonly event: string
}

const fromLog = (event: string, name: string, says: string, anchor = event): LogWatch => ({
  ...{ event, name, says, anchor, atLeast: 1 },
  metric: errorLines(event),
})

/** Errors whose lines raise no alarm, and why. Every other error that has no alarm of its own raises `OtherErrors`. */
export const errorsWithoutAlarm = {
  'in-doubt': 'most doubts end by themselves; InDoubt is raised by one that is an hour old',
  'audit-not-ok': 'AuditNotOk is raised by what the same audit measured',
  'slack-refused': 'announcement-lost or answer-lost follows, and says what was lost',
  'project-waits': 'the next round tries it again; PlanNotDone is raised by a plan that ends without it',
  'occurrence-failed': 'the next sweep tries it again; PlanNotDone is raised by a plan that does not end in its hour',
  'not-begun': 'the next sweep begins it; not-swept or FunctionErrors follows where the sweep cannot',
  'summary-not-ok': 'the line that finds it has it counted again; no answer was wrong',
  'answer-broken':
    'the service broke in the middle of an answer, and its caller was cut off; FunctionErrors leaves it out',
  'change-not-noted': 'the caller has the service’s answer, and there is nothing to repair',
} as const

/** The pattern of the catch-all: errors without an alarm of their own, but for the exceptions. */
export const otherErrors = (watches: readonly Watch[]): string => {
  const own = watches.flatMap((watch) => ('event' in watch && typeof watch.event === 'string' ? [watch.event] : []))
  const others = [...own, ...Object.keys(errorsWithoutAlarm)].map((event) => ` && $.event != "${event}"`)
  return `{ $.level = "error"${others.join('')} }`
}

/** Everything that is watched. Units come first. */
export const watchesOf = (watched: Watched): readonly Watch[] => [
  ...unitWatches(),
  ...serviceWatches(),
  ...functionWatches(watched),
  ...sizeWatches(),
]

const unitWatches = (): readonly Watch[] => [
  {
    name: 'InDoubt',
    says: 'An update has been in doubt for an hour',
    anchor: 'in-doubt',
    metric: vital('OldestDoubtMinutes'),
    atLeast: oneHourOfMinutes,
  },
  fromLog('overrun', 'Overrun', 'An update cost more than was held for it'),
  fromLog('impossible-units', 'ImpossibleUnits', 'An update states units that cannot be'),
  fromLog('not-settled', 'NotSettled', 'The ledger did not take the outcome of an update'),
  fromLog('not-frozen', 'NotFrozen', 'A budget should have been frozen after an overrun, and was not'),
  {
    name: 'AuditNotOk',
    says: 'A counter differs from the sum of the lines that moved it',
    anchor: 'the-audit-is-not-ok',
    metric: vital('AuditNotOk', 'Maximum', Duration.days(1)),
    atLeast: 1,
  },
  fromLog('not-audited', 'NotAudited', 'The books were not audited in the night'),
  {
    name: 'AccountNearlyUsed',
    says: 'Nine tenths of the units of the account’s month are used',
    anchor: 'the-account-is-nearly-used',
    metric: vital('AccountUsedPercent'),
    atLeast: 90,
  },
]

const serviceWatches = (): readonly Watch[] => [
  fromLog('token-refused', 'TokenRefused', 'The service answers 401 to a token that was just read', 'token-refused'),
  fromLog('service-token-expires', 'TokenExpires', 'The service’s token ends within 14 days, or has ended'),
  fromLog('secret-unavailable', 'SecretUnavailable', 'A secret cannot be read'),
  fromLog('foreign-data', 'ForeignData', 'The service has data that no update of the guard explains'),
  {
    name: 'PlanNotDone',
    says: 'A plan was missed, stopped, or could not update all of its projects',
    anchor: 'a-plan-was-not-done',
    metric: new Metric({
      ...{ namespace: metricNamespace, metricName: logMetrics.plansNotDone, statistic: 'Sum', period: fiveMinutes },
    }),
    atLeast: 1,
  },
  fromLog('plan-not-run', 'PlanNotRun', 'A rule fired for a plan that there is not'),
  fromLog('announcement-lost', 'AnnouncementLost', 'Slack was not told something, and never will be'),
]

const functionWatches = ({ functions, streamReaders, deadLetters }: Watched): readonly Watch[] => [
  {
    name: 'SweepSilent',
    says: 'No sweep has come to its figures for a quarter of an hour',
    anchor: 'the-sweep-is-silent',
    metric: vital('OldestDoubtMinutes', 'SampleCount', Duration.minutes(15)),
    atLeast: 1,
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
    // The call of an answer that broke has to fail, and says nothing about the function.
    metric: new MathExpression({
      expression: 'failed - FILL(broken, 0)',
      usingMetrics: { failed: ofAll(functions, 'Errors', 'SUM'), broken: errorLines('answer-broken') },
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
    metric: new Metric({
      ...{ namespace: metricNamespace, metricName: logMetrics.otherErrorLines, statistic: 'Sum', period: fiveMinutes },
    }),
    atLeast: 1,
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

const sizeWatches = (): readonly Watch[] => [
  {
    name: 'BookSize',
    says: 'The book is near the size that DynamoDB takes',
    anchor: 'item-size',
    metric: vital('BookBytes'),
    atLeast: nearlyTooLarge,
  },
  {
    name: 'DefinitionsSize',
    says: 'The definitions are near the size that DynamoDB takes',
    anchor: 'item-size',
    metric: vital('DefinitionsBytes'),
    atLeast: nearlyTooLarge,
  },
]

/** Of an alarm: it is raised below one where silence is meant, and from the threshold upwards elsewhere. */
export const alarmOf = ({ metric, atLeast, periods = 1, whenSilent }: Watch) => ({
  metric,
  threshold: atLeast,
  evaluationPeriods: periods,
  comparisonOperator: whenSilent
    ? ComparisonOperator.LESS_THAN_THRESHOLD
    : ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
  treatMissingData: whenSilent ? TreatMissingData.BREACHING : TreatMissingData.NOT_BREACHING,
})
