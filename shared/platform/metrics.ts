export const usualNamespace = 'UnitGuard'

/** Metrics of the sweep and the digest. CloudWatch bills each name, so there are few names, and no dimensions. */
export const vitals = {
  OldestDoubtMinutes: 'None',
  /** Updates that are requested or approved, but not started. */
  OldestQueuedMinutes: 'None',
  /** The part of the account's units that is held, in doubt or spent. */
  AccountUsedPercent: 'Percent',
  /** The size of the book with the largest possible figures. DynamoDB allows 400 KB. */
  BookBytes: 'Bytes',
  DefinitionsBytes: 'Bytes',
  AuditNotOk: 'Count',
} as const

/** Figures that requests and jobs count. They are members of log lines only, because no alarm needs them and CloudWatch bills each metric. */
export const counts = {
  Settled: 'Count',
  Released: 'Count',
  InDoubt: 'Count',
  Refused: 'Count',
  UnitsCharged: 'Count',
  /** Transactions of the ledger that another write blocked. */
  Conflicts: 'Count',
  /** The duration of each estimate and run of the service. */
  EstimateMs: 'Milliseconds',
  RunMs: 'Milliseconds',
} as const

export type Vital = keyof typeof vitals
export type Counted = keyof typeof counts
export type Measurements = Readonly<Partial<Record<Vital, number>>>

/**
 * Members that CloudWatch reads as measurements.
 * @see
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html
 */
export function metricFields(measured: Measurements, at: number, namespace: string): Readonly<Record<string, unknown>> {
  const names = (Object.keys(measured) as Vital[]).filter((name) => measured[name] !== undefined)
  const Metrics = names.map((name) => ({ Name: name, Unit: vitals[name] }))
  return {
    ...measured,
    _aws: { Timestamp: at, CloudWatchMetrics: [{ Namespace: namespace, Dimensions: [[]], Metrics }] },
  }
}
