/** Where CloudWatch keeps what the guard measures. */
export const metricNamespace = 'UnitGuard'

/**
 * What is measured, and in which unit of CloudWatch.
 *
 * @see https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_MetricDatum.html
 */
export const vitals = {
  /** Of the update that has been in doubt for longest; 0 without one. */
  OldestDoubtMinutes: 'None',
  /** What is held, in doubt and spent of the account's month. */
  AccountUsedPercent: 'Percent',
  /**
   * DynamoDB takes 400 KB an item, and each change of an item costs by its size. The book is counted with its figures
   * at their largest.
   */
  BookBytes: 'Bytes',
  DefinitionsBytes: 'Bytes',
  OpenAnnouncements: 'Count',
  /** Counters that differ from the sum of their lines. */
  AuditNotOk: 'Count',
} as const

export type Vital = keyof typeof vitals
export type Measurements = Readonly<Partial<Record<Vital, number>>>

/**
 * The fields that make a log line a measurement: CloudWatch reads them from the log, and nothing is called for it.
 *
 * @see
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html
 */
export function metricFields(measured: Measurements, at: number): Readonly<Record<string, unknown>> {
  const names = (Object.keys(vitals) as Vital[]).filter((name) => measured[name] !== undefined)
  const Metrics = names.map((name) => ({ Name: name, Unit: vitals[name] }))
  return {
    ...measured,
    _aws: { Timestamp: at, CloudWatchMetrics: [{ Namespace: metricNamespace, Dimensions: [[]], Metrics }] },
  }
}
