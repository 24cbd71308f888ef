export const metricNamespace = 'UnitGuard'

export const vitals = {
  /** 0 if nothing is in doubt. */
  OldestDoubtMinutes: 'None',
  /** Held, in doubt and spent of the account's month. */
  AccountUsedPercent: 'Percent',
  /** DynamoDB takes 400 KB an item. The book counts with its figures at their largest. */
  BookBytes: 'Bytes',
  DefinitionsBytes: 'Bytes',
  OpenAnnouncements: 'Count',
  AuditNotOk: 'Count',
} as const

export type Vital = keyof typeof vitals
export type Measurements = Readonly<Partial<Record<Vital, number>>>

/**
 * Makes a log line a measurement that CloudWatch reads from the log.
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
