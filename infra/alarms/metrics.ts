import { type IMetric, MathExpression, Metric } from 'aws-cdk-lib/aws-cloudwatch'
import { Operation } from 'aws-cdk-lib/aws-dynamodb'
import { Duration } from 'aws-cdk-lib/core'
import type { Vital } from '../../shared/platform/metrics.ts'
import type { GuardFunction } from '../guard-function.ts'
import type { LedgerTable } from '../ledger-table.ts'
import type { LineMetric } from './errors.ts'

export const fiveMinutes = Duration.minutes(5)

/** Metrics that the log of one guard feeds. */
export class LogMetrics {
  readonly namespace: string

  constructor(namespace: string) {
    this.namespace = namespace
  }

  vital(name: Vital, statistic: 'Maximum' | 'SampleCount' = 'Maximum', period = fiveMinutes): Metric {
    return new Metric({ namespace: this.namespace, metricName: name, statistic, period })
  }

  lines(metricName: LineMetric): Metric {
    return new Metric({ namespace: this.namespace, metricName, statistic: 'Sum', period: fiveMinutes })
  }
}

type Functions = Readonly<Record<string, GuardFunction>>

export const withUrl = (functions: Functions): Functions =>
  Object.fromEntries(Object.entries(functions).filter(([, { hasUrl }]) => hasUrl))

/** The metric of each function, by its id in an expression. */
export const ofEach = (functions: Functions, name: string, statistic: 'Sum' | 'Maximum'): Record<string, IMetric> =>
  Object.fromEntries(
    Object.entries(functions).map(([id, { lambda }]) => [
      `${name.toLowerCase()}_${id}`,
      lambda.metric(name, { statistic, period: fiveMinutes }),
    ]),
  )

export function ofAll(functions: Functions, name: string, together: 'SUM' | 'MAX') {
  const usingMetrics = ofEach(functions, name, together === 'SUM' ? 'Sum' : 'Maximum')
  // `+` would give no value as soon as one function was not called.
  const expression = `${together}([${Object.keys(usingMetrics).join(', ')}])`
  return new MathExpression({ expression, usingMetrics, label: name, period: fiveMinutes })
}

/** The operations that functions call (`shared/ledger/store/dynamo-store.ts`). */
const operations = [Operation.TRANSACT_WRITE_ITEMS, Operation.BATCH_GET_ITEM, Operation.QUERY] as const

type OfTable = Pick<LedgerTable, 'table'>

export const conflictsOf = ({ table }: OfTable): Metric =>
  table.metric('TransactionConflict', { statistic: 'Sum', period: fiveMinutes })

/** DynamoDB counts these two metrics by table and operation only. */
export const ofOperations = (
  { table }: OfTable,
  metricName: 'SystemErrors' | 'ThrottledRequests',
): Record<string, IMetric> =>
  Object.fromEntries(
    operations.map((name) => {
      const dimensionsMap = { TableName: table.tableName, Operation: name }
      const id = `${metricName === 'SystemErrors' ? 'failed' : 'throttled'}_${name}`
      return [id, table.metric(metricName, { dimensionsMap, statistic: 'Sum', period: fiveMinutes })]
    }),
  )

/**
 * Zero instead of no data: an alarm about AWS/DynamoDB keeps its state while data are missing, so the alarm would not end.
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_PutMetricAlarm.html
 */
export const filled = (usingMetrics: Readonly<Record<string, IMetric>>): string =>
  `(${Object.keys(usingMetrics)
    .map((id) => `FILL(${id}, 0)`)
    .join(' + ')})`
