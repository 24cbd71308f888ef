export const usualNamespace = 'UnitGuard'

export const vitals = {
  OldestDoubtMinutes: 'None',
  /** Held, in doubt and spent. */
  AccountUsedPercent: 'Percent',
  /** With its figures at their largest, of DynamoDB's 400 KB. */
  BookBytes: 'Bytes',
  DefinitionsBytes: 'Bytes',
  OpenAnnouncements: 'Count',
  AuditNotOk: 'Count',
} as const

export type Vital = keyof typeof vitals
export type Measurements = Readonly<Partial<Record<Vital, number>>>

/**
 * A log line that CloudWatch reads as a measurement.
 * @see
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html
 */
export function metricFields(measured: Measurements, at: number, namespace: string): Readonly<Record<string, unknown>> {
  const names = (Object.keys(vitals) as Vital[]).filter((name) => measured[name] !== undefined)
  const Metrics = names.map((name) => ({ Name: name, Unit: vitals[name] }))
  return {
    ...measured,
    _aws: { Timestamp: at, CloudWatchMetrics: [{ Namespace: namespace, Dimensions: [[]], Metrics }] },
  }
}
