import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { causesOfTable, errorsWithoutAlarm, eventsOf, filters } from '../../../infra/alarms/errors.ts'
import { createLog } from '../../../shared/platform/log.ts'
import { alarmsRaisedBy, nameOfAlarm } from '../../support/infra/raised.ts'
import { synthesize } from '../../support/infra/stack.ts'
import { documentedEvents, eventsInSource, linesOf } from '../../support/log-lines.ts'

const { ofType } = synthesize()
const errors = [...eventsInSource()].flatMap(([event, levels]) => (levels.has('error') ? [event] : []))
const reasons = new Map<string, string>(Object.entries(errorsWithoutAlarm))
const documents = { log: readFileSync('docs/log.md', 'utf8'), runbook: readFileSync('docs/runbook.md', 'utf8') }

/** The line that the log writes. */
function lineOf(event: string, causeName = 'Error') {
  const written: string[] = []
  const cause = Object.assign(new Error('of a test'), { name: causeName })
  createLog({ write: (line) => written.push(line), now: () => 0 }).error(event, { cause })
  return linesOf(written)
}

describe('each error event of the log', () => {
  test.each(errors)('%s raises the alarm that docs/log.md names, or none for a stated reason', (event) => {
    const documented = documentedEvents.get(event)?.alarm
    if (reasons.has(event)) expect([documented, alarmsRaisedBy(lineOf(event))]).toEqual(['none', []])
    else expect(alarmsRaisedBy(lineOf(event))).toEqual([documented])
  })

  test.each(errors)(
    '%s raises Table instead where the table is the cause, and nothing where a secret has told it',
    (event) => {
      for (const cause of causesOfTable)
        expect(alarmsRaisedBy(lineOf(event, cause))).toEqual(reasons.has(event) ? [] : ['Table'])
      expect(alarmsRaisedBy(lineOf(event, 'SecretUnavailable'))).toEqual([])
    },
  )

  test.each(errors)('%s is silent when others were faster, unless units may be booked wrongly', (event) => {
    const isOfUnits = eventsOf.Units.some((each) => each === event)
    expect(alarmsRaisedBy(lineOf(event, 'Contention'))).toEqual(isOfUnits ? ['Units'] : [])
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
  expect(Object.values(eventsOf).flatMap((events) => events.filter((event) => !errors.includes(event)))).toEqual([])
})

test('each alarm that docs/log.md names exists', () => {
  const alarms = ofType('AWS::CloudWatch::Alarm').map(nameOfAlarm)
  const named = [...documentedEvents.values()]
    .map(({ alarm }) => alarm)
    .filter((alarm) => !['', 'none'].includes(alarm))
  expect(named.filter((alarm) => !alarms.includes(alarm))).toEqual([])
})

test.each(Object.entries(filters))('the pattern of %s is not longer than CloudWatch allows', (_, pattern) => {
  expect(pattern.length).toBeLessThanOrEqual(1024)
})
