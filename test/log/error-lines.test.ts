import { expect, test } from 'vitest'
import { onceAMinute } from '../../infra/local/log/error-lines.ts'
import { createLog } from '../../shared/platform/log.ts'
import { createTestClock, minutes } from '../support/clock.ts'

function start() {
  const clock = createTestClock()
  const lines: { event: string; update?: string; repeats?: number; cause?: { stack?: string } }[] = []
  const log = createLog({ write: onceAMinute((line) => lines.push(JSON.parse(line)), clock.now), now: clock.now })
  const told = () => lines.splice(0).map(({ event, update, repeats }) => [event, update, repeats])
  return { clock, log, lines, told }
}

const full = () => new Error('The disk of the ledger is full')

test('an error that a cause repeats within a minute is one line, and the next one counts the others', () => {
  const { clock, log, lines, told } = start()
  for (const event of ['failed', 'not-swept', 'failed']) log.error(event, { cause: full() })
  expect(told()).toEqual([['failed', undefined, undefined]])
  clock.advance(minutes(1))
  log.error('not-told', { cause: full() })
  expect(lines[0]?.cause?.stack).toContain('error-lines.test')
  expect(told()).toEqual([['not-told', undefined, 2]])
  clock.advance(minutes(1))
  log.error('not-told', { cause: full() })
  expect(told()).toEqual([['not-told', undefined, undefined]])
})

test('another cause, units that may be booked wrongly and a line without a cause are lines of their own', () => {
  const { log, told } = start()
  log.error('failed', { cause: full() })
  log.error('failed', { cause: new Error('The disk of the ledger is read-only') })
  for (const update of ['upd_1', 'upd_2']) {
    log.error('not-admitted', { cause: full(), update })
    log.error('not-settled', { cause: full(), update })
  }
  log.error('overrun', { units: 3 })
  log.error('overrun', { units: 3 })
  log.info('run', { cause: full() })
  log.info('run', { cause: full() })
  expect(told().map(([event, update]) => [event, update].filter(Boolean).join(' '))).toEqual([
    'failed',
    'failed',
    'not-settled upd_1',
    'not-settled upd_2',
    'overrun',
    'overrun',
    'run',
    'run',
  ])
})
