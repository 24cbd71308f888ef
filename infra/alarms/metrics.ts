import { MathExpression, Metric } from 'aws-cdk-lib/aws-cloudwatch'
import { Operation } from 'aws-cdk-lib/aws-dynamodb'
import { Duration } from 'aws-cdk-lib/core'
import { type Counted, counts, type Vital } from '../../shared/platform/metrics.ts'
import type { GuardFunction } from '../guard-function.ts'
import type { LedgerTable } from '../ledger-table.ts'

export const fiveMinutes = Duration.minutes(5)

export const logMetrics = {
  errorLines: 'ErrorLines',
  otherErrorLines: 'OtherErrorLines',
  plansNotDone: 'PlansNotDone',
  /** Both by version. */
  apiBroken: 'ApiBroken',
  apiFailed: 'ApiFailed',
} as const

/** Metrics that the log of one guard feeds. */
export class LogMetrics {
  readonly namespace: string

  constructor(namespace: string) {
    this.namespace = namespace
  }

  vital(name: Vital, statistic: 'Maximum' | 'SampleCount' = 'Maximum', period = fiveMinutes): Metric {
    return new Metric({ namespace: this.namespace, metricName: name, statistic, period })
  }

  counted(name: Counted): Metric {
    const statistic = counts[name] === 'Count' ? 'Sum' : 'p95'
    return new Metric({ namespace: this.namespace, metricName: name, statistic, period: fiveMinutes })
  }

  sum(metricName: string, dimensionsMap: Record<string, string> = {}): Metric {
    return new Metric({ namespace: this.namespace, metricName, dimensionsMap, statistic: 'Sum', period: fiveMinutes })
  }

  errorLines(event: string): Metric {
    return this.sum(logMetrics.errorLines, { event })
  }
}

type Functions = Readonly<Record<string, GuardFunction>>

export const withUrl = (functions: Functions): [string, GuardFunction][] =>
  Object.entries(functions).filter(([, { hasUrl }]) => hasUrl)

export function ofAll(functions: Functions, name: string, together: 'SUM' | 'MAX') {
  const idOf = (id: string) => `${name.toLowerCase()}_${id}`
  const usingMetrics = Object.fromEntries(
    Object.entries(functions).map(([id, { lambda }]) => [
      idOf(id),
      lambda.metric(name, { statistic: together === 'SUM' ? 'Sum' : 'Maximum', period: fiveMinutes }),
    ]),
  )
  // `+` would give no value as soon as one function was not called.
  const expression = `${together}([${Object.keys(usingMetrics).join(', ')}])`
  return new MathExpression({ expression, usingMetrics, label: name, period: fiveMinutes })
}

/** What functions call: `shared/ledger/store/dynamo-store.ts`. */
const operations = [Operation.TRANSACT_WRITE_ITEMS, Operation.BATCH_GET_ITEM, Operation.QUERY] as const

type OfTable = Pick<LedgerTable, 'table'>

/**
 * Zero instead of no data: an alarm about AWS/DynamoDB keeps its state while data are missing, so it would not end.
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_PutMetricAlarm.html
 */
export function conflictsOf({ table }: OfTable): MathExpression {
  const conflicts = table.metric('TransactionConflict', { statistic: 'Sum', period: fiveMinutes })
  const usingMetrics = { conflicts }
  return new MathExpression({
    ...{ expression: 'FILL(conflicts, 0)', usingMetrics, label: 'TransactionConflict', period: fiveMinutes },
  })
}

/** DynamoDB counts these by table and operation only. */
export function ofOperations({ table }: OfTable, metricName: 'SystemErrors' | 'ThrottledRequests'): MathExpression {
  const usingMetrics = Object.fromEntries(
    operations.map((name) => {
      const dimensionsMap = { TableName: table.tableName, Operation: name }
      const id = `${metricName === 'SystemErrors' ? 'failed' : 'throttled'}_${name}`
      return [id, table.metric(metricName, { dimensionsMap, statistic: 'Sum', period: fiveMinutes })]
    }),
  )
  const filled = Object.keys(usingMetrics).map((id) => `FILL(${id}, 0)`)
  return new MathExpression({ expression: filled.join(' + '), usingMetrics, label: metricName, period: fiveMinutes })
}

/** https://docs.aws.amazon.com/lambda/latest/dg/urls-monitoring.html: for latency, average and maximum are offered. */
export const ofUrl = ({ lambda }: GuardFunction, metricName: 'Url5xxCount' | 'UrlRequestLatency'): Metric =>
  lambda.metric(metricName, { statistic: metricName === 'Url5xxCount' ? 'Sum' : 'Maximum', period: fiveMinutes })
