/** Computes the state of an alarm after each period by CloudWatch's rules. */

export interface Alarm {
  readonly Threshold: number
  readonly ComparisonOperator: string
  readonly EvaluationPeriods: number
  readonly DatapointsToAlarm: number
  readonly TreatMissingData: string
}

/** The datapoint of each period; `null` if the metric had none. */
export type Datapoints = readonly (number | null)[]

/** CloudWatch reads more periods than it evaluates. Their number is not documented, but its examples have two. */
const extraPeriods = 2

/**
 * Real datapoints come before filled ones, even those from further back.
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarms-and-missing-data.html
 */
function statesOf(alarm: Alarm, datapoints: Datapoints): ('OK' | 'ALARM')[] {
  return datapoints.map((_, position) => {
    const { EvaluationPeriods: periods } = alarm
    const range = datapoints.slice(Math.max(0, position + 1 - periods - extraPeriods), position + 1)
    const real = range.filter((value) => value !== null).slice(-periods)
    const breaching = real.filter((value) => isBreaching(alarm, value)).length
    const filled = alarm.TreatMissingData === 'breaching' ? periods - real.length : 0
    return breaching + filled >= alarm.DatapointsToAlarm ? 'ALARM' : 'OK'
  })
}

function isBreaching({ Threshold, ComparisonOperator }: Alarm, value: number): boolean {
  switch (ComparisonOperator) {
    case 'GreaterThanOrEqualToThreshold':
      return value >= Threshold
    case 'LessThanThreshold':
      return value < Threshold
    default:
      throw new Error(`no rule for ${ComparisonOperator}`)
  }
}

/** Each mail of the alarm, with the period after which it is sent. */
export function changesOf(alarm: Alarm, datapoints: Datapoints): string[] {
  let before = 'OK'
  return statesOf(alarm, datapoints).flatMap((state, position) => {
    if (state === before) return []
    before = state
    return [`${position} ${state}`]
  })
}
