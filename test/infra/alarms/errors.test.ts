import { describe, expect, test } from 'vitest'
import { causesOfTable, errorsWithoutAlarm, eventsOf, filters } from '../../../infra/alarms/errors.ts'
import { createLog } from '../../../shared/platform/log.ts'
import { alarmsRaisedBy, nameOfAlarm } from '../../support/infra/raised.ts'
import { synthesize } from '../../support/infra/stack.ts'
import { documentedEvents, eventsInSource, linesOf } from '../../support/log-lines.ts'

const { ofType } = synthesize()
const errors = [...eventsInSource()].filter(([, levels]) => levels.has('error')).map(([event]) => event)
const reasons = new Map<string, string>(Object.entries(errorsWithoutAlarm))
/** The address in the mail of an alarm. */
const anchorOf = new Map(
  ofType('AWS::CloudWatch::Alarm').map((alarm) => {
    const [, anchor = ''] = /#([a-z-]+)$/.exec(alarm.Properties.AlarmDescription) ?? []
    return [nameOfAlarm(alarm), anchor] as const
  }),
)

/** The line that the log writes. */
function lineOf(event: string, causeName = 'Error') {
  const written: string[] = []
  const cause = Object.assign(new Error('of a test'), { name: causeName })
  createLog({ write: (line) => written.push(line), now: () => 0 }).error(event, { cause })
  return linesOf(written)
}

describe('an error event of the log', () => {
  test.each(errors)(
    '%s is in the paragraph of docs/runbook.md that its alarm links, or among those without an alarm',
    (event) => {
      const { heading = '', text = '' } = documentedEvents.get(event) ?? {}
      const linked = alarmsRaisedBy(lineOf(event)).map((alarm) => anchorOf.get(alarm))
      expect(linked).toEqual(reasons.has(event) ? [] : [heading.toLowerCase().replaceAll(' ', '-')])
      expect(heading === 'Errors without an alarm').toBe(reasons.has(event))
      expect(text.split(' ').length).toBeGreaterThan(7)
    },
  )

  test.each(errors)(
    '%s raises Table instead if the table is the cause, and nothing if a secret’s line has said it',
    (event) => {
      for (const cause of causesOfTable)
        expect(alarmsRaisedBy(lineOf(event, cause))).toEqual(reasons.has(event) ? [] : ['Table'])
      expect(alarmsRaisedBy(lineOf(event, 'SecretUnavailable'))).toEqual([])
    },
  )

  test.each(errors)('%s raises nothing if other writes were faster, unless units may be booked wrongly', (event) => {
    const isOfUnits = eventsOf.Units.some((each) => each === event)
    expect(alarmsRaisedBy(lineOf(event, 'Contention'))).toEqual(isOfUnits ? ['Units'] : [])
  })

  test('an event of a later version raises OtherErrors', () => {
    expect(alarmsRaisedBy(lineOf('of-a-later-version'))).toEqual(['OtherErrors'])
  })

  test('information raises no alarm, except for plans and figures', () => {
    const informing = [...documentedEvents].filter(([, { level }]) => level === 'info')
    expect(informing.length).toBeGreaterThan(15)
    for (const [event] of informing) expect([event, alarmsRaisedBy([{ level: 'info', event }])]).toEqual([event, []])
  })
})

test('docs/runbook.md states the reason of each error without an alarm', () => {
  for (const [event, reason] of reasons) {
    expect(documentedEvents.get(event)?.text.startsWith(`${reason}.`), event).toBe(true)
    expect(reason.split(' ').length).toBeGreaterThan(7)
  }
  expect([...reasons.keys()].filter((event) => !errors.includes(event))).toEqual([])
})

test('the code logs every event that an alarm counts', () => {
  expect(Object.values(eventsOf).flatMap((events) => events.filter((event) => !errors.includes(event)))).toEqual([])
})

test.each(Object.entries(filters))('the pattern of %s is not longer than CloudWatch allows', (_, pattern) => {
  expect(pattern.length).toBeLessThanOrEqual(1024)
})
