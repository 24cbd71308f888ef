import { describe, expect, test } from 'vitest'
import { isInFigure, shownFrom } from '../../../shared/ledger/updates/shown.ts'
import { minutes } from '../../support/clock.ts'
import { at, holdOf, updateOf } from '../../support/records.ts'

const flight = minutes(5)
const ten = at('2026-11-20T10:00:00Z')
const hold = holdOf({ senderUntil: ten })

describe('from when on every figure of the vendor has an update', () => {
  test.each([
    ['one flight after its sender settled it', { state: 'settled', finishedAt: ten, closedBy: 'sender' }, flight],
    ['two flights after the sender of a running one is gone', { state: 'running' }, 2 * flight],
    [
      'two flights after its sender put it in doubt',
      { state: 'in-doubt', doubt: { by: 'sender', at: ten - minutes(1) } },
      2 * flight - minutes(1),
    ],
    [
      'two flights after its sender is gone, if the sweep put it in doubt',
      { state: 'in-doubt', doubt: { by: 'sweep', at: ten + minutes(30) } },
      2 * flight,
    ],
    [
      'no sooner if a person closed it at once',
      { state: 'settled', doubt: { by: 'sender', at: ten }, finishedAt: ten, closedBy: 'person' },
      2 * flight,
    ],
  ] as const)('%s', (_when, changes, after) => {
    expect(shownFrom(updateOf({ hold, ...changes }), flight)).toBe(ten + after)
  })
})

describe('whether account follows the figure', () => {
  const closed = updateOf({
    hold,
    state: 'settled',
    doubt: { by: 'sender', at: ten },
    finishedAt: ten + minutes(20),
    closedBy: 'person',
  })
  test.each([
    [
      'a figure one millisecond too early',
      { reconciledAt: ten + 2 * flight - 1, reconciledOn: ten + minutes(60) },
      false,
    ],
    [
      'an earlier figure that was booked later',
      { reconciledAt: ten + 2 * flight, reconciledOn: ten + minutes(60) },
      true,
    ],
    [
      'a figure that was booked when it closed',
      { reconciledAt: ten + 2 * flight, reconciledOn: ten + minutes(20) },
      true,
    ],
    [
      'a figure that was booked before it closed',
      { reconciledAt: ten + 2 * flight, reconciledOn: ten + minutes(19) },
      false,
    ],
    ['a figure of an older version, before it closed', { reconciledAt: ten + minutes(19) }, false],
    ['a figure of an older version', { reconciledAt: ten + minutes(20) }, true],
    ['a later figure of an older version', { reconciledAt: ten + minutes(20), reconciledOn: ten + minutes(1) }, true],
    ['no figure', {}, false],
  ])('%s', (_what, book, expected) => {
    expect(isInFigure(closed, book, flight)).toBe(expected)
  })

  test('an open update follows no figure', () => {
    const open = updateOf({ hold, state: 'in-doubt', doubt: { by: 'sender', at: ten } })
    expect(isInFigure(open, { reconciledAt: ten + minutes(60) }, flight)).toBe(false)
  })
})
