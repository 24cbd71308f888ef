import type { Line } from '../log-lines.ts'
import { type Alarm, changesOf } from './alarm-states.ts'
import { matches } from './filter-pattern.ts'
import { type Resource, synthesize } from './stack.ts'

interface Datapoint {
  readonly metric: string
  readonly value: number
}

const { ofType } = synthesize()
const filters = ofType('AWS::Logs::MetricFilter').map(({ Properties }) => Properties)
/** The others read metrics of AWS, which no line feeds. */
const alarms = ofType('AWS::CloudWatch::Alarm').filter(({ Properties }) => Properties.Namespace === 'UnitGuard')

export const nameOfAlarm = ({ id }: Pick<Resource, 'id'>): string => id.replace(/^Watching|[0-9A-F]{8}$/g, '')

/** The alarms that lines of one period raise: the filters count them, and some lines carry metrics. */
export function alarmsRaisedBy(lines: readonly Line[]): string[] {
  const datapoints = lines.flatMap((line) => [...countedIn(line), ...carriedBy(line)])
  return alarms.flatMap((alarm) => {
    const { MetricName, Dimensions = [], Statistic } = alarm.Properties
    const metric = idOf(MetricName, Dimensions)
    const values = datapoints.filter((datapoint) => datapoint.metric === metric).map(({ value }) => value)
    if (values.length === 0) return []
    const isRaised = changesOf(alarm.Properties as Alarm, [statisticOf(Statistic, values)]).length > 0
    return isRaised ? [nameOfAlarm(alarm)] : []
  })
}

/** What the filters make of a line. */
export function countedIn(line: Line): Datapoint[] {
  return filters
    .filter(({ FilterPattern }) => matches(FilterPattern, line))
    .map(({ MetricTransformations: [{ MetricName, MetricValue, Dimensions = [] }] }) => {
      const dimensions = Dimensions.map(({ Key, Value }: { Key: string; Value: string }) => ({
        Name: Key,
        Value: line[Value.replace('$.', '')],
      }))
      return { metric: idOf(MetricName, dimensions), value: Number(MetricValue) }
    })
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
