import { describe, expect, test } from 'vitest'
import { type Alarm, changesOf, type Datapoints } from '../../support/infra/alarm-states.ts'
import { synthesize } from '../../support/infra/stack.ts'

const { ofType } = synthesize()
const watching = ofType('AWS::CloudWatch::Alarm').filter(({ id }) => id.startsWith('Watching'))
const alarms = watching.map(({ id, Properties }) => ({
  name: id.replace(/^Watching|[0-9A-F]{8}$/g, ''),
  ...(Properties as Alarm),
}))
const alarmNamed = (name: string): Alarm => {
  const found = alarms.find((alarm) => alarm.name === name)
  if (!found) throw new Error(`no alarm ${name}`)
  return found
}
const hour = 12
const repeated = (pattern: Datapoints, periods: number): Datapoints =>
  Array.from({ length: periods }, (_, position) => pattern[position % pattern.length] ?? null)
const quiet = (periods: number): Datapoints => repeated([0], periods)
const silent = (periods: number): Datapoints => repeated([null], periods)

const lasting = ['ServerErrors', 'SlowAnswers', 'TableStrained']
const single = ['AuditNotOk', 'SweepSilent']
const once = alarms.map(({ name }) => name).filter((name) => !lasting.includes(name) && !single.includes(name))

describe('alarms in CloudWatch’s own evaluation', () => {
  test('every alarm has one of three patterns', () => {
    expect(lasting.filter((name) => !alarms.some((alarm) => alarm.name === name))).toEqual([])
    expect([...once, ...lasting, ...single]).toHaveLength(alarms.length)
  })

  test.each(lasting)('%s stays silent for one or two blips of any size', (name) => {
    const alarm = alarmNamed(name)
    const much = 50 * alarm.Threshold
    expect(changesOf(alarm, [...quiet(hour), much, ...quiet(hour)])).toEqual([])
    expect(changesOf(alarm, [...silent(hour), much, ...silent(2), much, ...silent(hour)])).toEqual([])
  })

  test.each(lasting)('%s is raised after a quarter of an hour, and ends after a quiet hour', (name) => {
    const alarm = alarmNamed(name)
    const bad = repeated([alarm.Threshold], 3)
    expect(changesOf(alarm, [...quiet(hour), ...bad, ...quiet(2 * hour)])).toEqual(['14 ALARM', '24 OK'])
    expect(changesOf(alarm, [...bad.slice(1), alarm.Threshold - 1, ...quiet(2 * hour)])).toEqual([])
  })

  test.each(once)('%s is raised by one period, and ends after a quiet hour', (name) => {
    const alarm = alarmNamed(name)
    expect(changesOf(alarm, [...quiet(2), alarm.Threshold, ...quiet(2 * hour)])).toEqual(['2 ALARM', '14 OK'])
    // Metrics of log lines have data only if there are such lines.
    expect(changesOf(alarm, [...silent(2), alarm.Threshold, ...silent(2 * hour)])).toEqual(['2 ALARM', '16 OK'])
  })

  test.each([...once, ...lasting])('%s sends one mail if data alternate', (name) => {
    const alarm = alarmNamed(name)
    const [bad, good] = [alarm.Threshold, 0]
    for (const nothing of [good, null])
      for (const pattern of [
        [bad, nothing],
        [bad, nothing, nothing],
        [bad, bad, nothing],
        [bad, bad, nothing, nothing],
      ]) {
        expect(changesOf(alarm, repeated(pattern, 4 * hour))).toHaveLength(1)
      }
  })

  test('each alarm of five-minute periods looks back over an hour', () => {
    for (const { name, DatapointsToAlarm, EvaluationPeriods } of alarms.filter(({ name }) => !single.includes(name))) {
      expect([name, EvaluationPeriods]).toEqual([name, hour])
      expect([name, DatapointsToAlarm]).toEqual([name, lasting.includes(name) ? 3 : 1])
    }
  })

  test('SweepSilent is raised when the figures stop, and not before', () => {
    const alarm = alarmNamed('SweepSilent')
    expect(changesOf(alarm, repeated([3, 2], hour))).toEqual([])
    // CloudWatch uses the last real figures while it finds some in the periods that it reads.
    expect(changesOf(alarm, [...repeated([3], 4), ...silent(4), 3])).toEqual(['6 ALARM', '8 OK'])
  })

  test('AuditNotOk is raised by one bad day, and ends with the first good day', () => {
    expect(changesOf(alarmNamed('AuditNotOk'), [0, 1, 1, 0])).toEqual(['1 ALARM', '3 OK'])
  })

  test('an evaluation spans at most a day, which is CloudWatch’s maximum', () => {
    for (const { name, Properties } of ofType('AWS::CloudWatch::Alarm').map(({ id: name, Properties }) => ({
      name,
      Properties,
    }))) {
      const period = Properties.Period ?? 300
      expect([name, period * Properties.EvaluationPeriods <= 86_400]).toEqual([name, true])
    }
  })
})
