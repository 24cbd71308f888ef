import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { errorsWithoutAlarm } from '../../../infra/alarms/watches.ts'
import { createLog } from '../../../shared/platform/log.ts'
import { alarmsRaisedBy, nameOfAlarm } from '../../support/infra/raised.ts'
import { plain, synthesize } from '../../support/infra/stack.ts'
import { documentedEvents, eventsInSource, linesOf } from '../../support/log-lines.ts'

const { ofType } = synthesize()
const errors = [...eventsInSource()].flatMap(([event, levels]) => (levels.has('error') ? [event] : []))
const reasons = new Map<string, string>(Object.entries(errorsWithoutAlarm))
const documents = { log: readFileSync('docs/log.md', 'utf8'), runbook: readFileSync('docs/runbook.md', 'utf8') }

/** The line that the log writes. */
function lineOf(event: string) {
  const written: string[] = []
  createLog({ write: (line) => written.push(line), now: () => 0 }).error(event, { cause: new Error('of a test') })
  return linesOf(written)
}

describe('each error event of the log', () => {
  test.each(errors)('%s raises the alarm that docs/log.md names, or none for a stated reason', (event) => {
    const documented = documentedEvents.get(event)?.alarm
    if (reasons.has(event)) expect([documented, alarmsRaisedBy(lineOf(event))]).toEqual(['none', []])
    else expect(alarmsRaisedBy(lineOf(event))).toEqual([documented])
  })

  test.each(errors)('%s has a paragraph in the runbook', (event) => {
    const paragraphs = documents.runbook.split(/^## /m).slice(1)
    const named = paragraphs.filter((text) => {
      const [heading = ''] = text.split('\n', 1)
      return heading !== 'Other errors' && (heading.split(', ').includes(event) || text.includes(`\`${event}\``))
    })
    expect(named).not.toEqual([])
  })

  test('an event of a later version raises OtherErrors', () => {
    expect(alarmsRaisedBy(lineOf('of-a-later-version'))).toEqual(['OtherErrors'])
  })

  test('information raises no alarm, but for plans and figures', () => {
    const informing = [...documentedEvents].filter(([, { level }]) => level === 'info')
    for (const [event, { alarm }] of informing) {
      expect([event, alarm]).toEqual([event, ''])
      expect(alarmsRaisedBy([{ level: 'info', event }])).toEqual([])
    }
  })
})

test('docs/log.md states the reason of each error without an alarm', () => {
  const [, stated = ''] = documents.log.split('### Errors without an alarm')
  const rows = [...stated.matchAll(/^- `([\w-]+)`: (.*)\.$/gm)].map(([, event, reason]) => [event, reason])
  expect(rows).toEqual([...reasons])
  expect([...reasons.keys()].filter((event) => !errors.includes(event))).toEqual([])
  for (const reason of reasons.values()) expect(reason.split(' ').length).toBeGreaterThan(7)
})

test('the code logs every event that an alarm counts', () => {
  const counted = ofType('AWS::CloudWatch::Alarm').flatMap(({ Properties: { Dimensions: [dimension] = [] } }) =>
    dimension?.Name === 'event' ? [String(dimension.Value)] : [],
  )
  expect(counted.filter((event) => !errors.includes(event))).toEqual([])
})

test('each alarm that docs/log.md names exists', () => {
  const alarms = ofType('AWS::CloudWatch::Alarm').map(nameOfAlarm)
  const named = [...documentedEvents.values()]
    .map(({ alarm }) => alarm)
    .filter((alarm) => !['', 'none'].includes(alarm))
  expect(named.filter((alarm) => !alarms.includes(alarm))).toEqual([])
})

test('the pattern of OtherErrors is not longer than CloudWatch allows', () => {
  const [pattern = ''] = ofType('AWS::Logs::MetricFilter')
    .map(({ Properties }) => plain(Properties))
    .filter(({ MetricTransformations: [{ MetricName }] }) => MetricName === 'OtherErrorLines')
    .map(({ FilterPattern }) => String(FilterPattern))
  expect(pattern.length).toBeLessThanOrEqual(1024)
})
