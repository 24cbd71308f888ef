import { runInNewContext } from 'node:vm'
import type { Line } from '../log-lines.ts'
import { type Alarm, changesOf } from './alarm-states.ts'
import { matches } from './filter-pattern.ts'
import { plain, type Resource, synthesize } from './stack.ts'

interface Datapoint {
  readonly metric: string
  readonly value: number
}

/** The lines and metrics of five minutes. */
export interface Period {
  readonly lines: readonly Line[]
  /** Metrics of AWS, by `idOf`. */
  readonly measured?: readonly Datapoint[]
}

interface Stat {
  readonly MetricName: string
  readonly Dimensions?: readonly { readonly Name: string; readonly Value: string }[]
}

const { ofType } = synthesize()
const filters = ofType('AWS::Logs::MetricFilter').map(({ Properties }) => Properties)
const alarms = ofType('AWS::CloudWatch::Alarm')

export const nameOfAlarm = ({ id }: Pick<Resource, 'id'>): string => id.replace(/^Watching|[0-9A-F]{8}$/g, '')

/** The alarms that lines of one period raise: the filters count them, and some lines carry metrics. */
export const alarmsRaisedBy = (lines: readonly Line[]): string[] => mailsOf([{ lines }])

/** Each mail about a raised alarm, by the name of the alarm. */
export function mailsOf(periods: readonly Period[]): string[] {
  const datapoints = periods.map(({ lines, measured = [] }) => [
    ...measured,
    ...lines.flatMap((line) => [...countedIn(line), ...carriedBy(line)]),
  ])
  return alarms.flatMap((alarm) => {
    const values = datapoints.map((each) => figureOf(plain(alarm.Properties), each))
    if (values.every((value) => value === null)) return []
    const changes = changesOf(alarm.Properties as Alarm, values)
    return changes.filter((change) => change.endsWith('ALARM')).map(() => nameOfAlarm(alarm))
  })
}

// biome-ignore lint/suspicious/noExplicitAny: templates are JSON.
function figureOf({ Metrics, Statistic, ...own }: any, datapoints: readonly Datapoint[]): number | null {
  const read = (stat: Stat, statistic: string) => {
    const id = idOf(stat.MetricName, stat.Dimensions ?? [])
    const values = datapoints.filter(({ metric }) => metric === id).map(({ value }) => value)
    return values.length === 0 ? null : statisticOf(statistic, values)
  }
  if (!Metrics) return read(own, Statistic)
  const [{ Expression }, ...used] = Metrics
  return resultOf(
    Expression,
    Object.fromEntries(
      used.map(({ Id, MetricStat: { Metric, Stat } }: { Id: string; MetricStat: { Metric: Stat; Stat: string } }) => [
        Id,
        read(Metric, Stat),
      ]),
    ),
  )
}

/**
 * Supports the functions that the alarms use. A missing value makes a result missing.
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/using-metric-math.html
 */
function resultOf(expression: string, values: Readonly<Record<string, number | null>>): number | null {
  const real = (list: readonly number[]) => list.filter((value) => !Number.isNaN(value))
  const functions = {
    FILL: (value: number, filling: number) => (Number.isNaN(value) ? filling : value),
    SUM: (list: readonly number[]) => (real(list).length ? real(list).reduce((sum, value) => sum + value) : Number.NaN),
    MAX: (list: readonly number[]) => (real(list).length ? Math.max(...real(list)) : Number.NaN),
    IF: (condition: boolean, yes: number, no: number) => (condition ? yes : no),
  }
  const given = Object.fromEntries(Object.entries(values).map(([id, value]) => [id, value ?? Number.NaN]))
  const result = Number(runInNewContext(expression, { ...functions, ...given }))
  return Number.isNaN(result) ? null : result
}

/** The datapoints that the filters make of a line. */
function countedIn(line: Line): Datapoint[] {
  return filters
    .filter(({ FilterPattern }) => matches(FilterPattern, line))
    .map(({ MetricTransformations: [{ MetricName, MetricValue }] }) => ({
      metric: idOf(MetricName, []),
      value: Number(MetricValue),
    }))
}

const carriedBy = (line: Line): Datapoint[] =>
  (line._aws?.CloudWatchMetrics ?? []).flatMap(({ Metrics }: { Metrics: { Name: string }[] }) =>
    Metrics.flatMap(({ Name }) => [line[Name]].flat().map((value: number) => ({ metric: idOf(Name, []), value }))),
  )

export const idOf = (name: string, dimensions: readonly { Name: string; Value: string }[]): string =>
  [name, ...dimensions.map(({ Name, Value }) => `${Name}=${Value}`)].join(' ')

function statisticOf(statistic: string, values: readonly number[]): number {
  switch (statistic) {
    case 'Sum':
      return values.reduce((sum, value) => sum + value)
    case 'Maximum':
      return Math.max(...values)
    case 'SampleCount':
      return values.length
    default:
      throw new Error(`no rule for ${statistic}`)
  }
}
