import { expect, test } from 'vitest'
import { parseConditions, parseRefusals } from '../../../shared/tracking/conditions.ts'
import type { RunResult } from '../../../shared/tracking/tracking.ts'
import { only, startGuard } from '../../support/guard.ts'
import { u } from '../../support/records.ts'

const answered = (body: string, status = 200): RunResult => ({
  kind: 'unknown',
  reason: 'nothing decides it',
  status,
  answer: { status, contentType: 'application/json', body, truncated: false },
})

const eve = { caller: 'eve' }

/** An update of `shop` in doubt, ten minutes ago. RUN_REFUSED names 26 and RUN_STARTED nothing. */
async function start(
  body: string,
  { status = 200, kind = 'ranking' as const as 'ranking' | 'keyword-difficulty' } = {},
) {
  const product = await startGuard()
  const { service, ask, clock, guard } = product
  service.run = async () => answered(body, status)
  service.readingOf = () => ({
    pointer: undefined,
    rules: { refused: parseRefusals('/code=26'), started: [], well: parseConditions('/code=30') },
  })
  const { id } = only(await ask({ kind }))
  clock.advance(600_000)
  const book = (endsAt = clock.now() + 60_000) => guard.resolveByAnswer(id, eve, { reason: 'seen', endsAt })
  return { ...product, id, book, propose: async () => guard.answeredDoubts([id]) }
}

const refused = '{"code":26}'

test('a status is no proof for a stored answer, because it decided nothing when the answer came', async () => {
  const { propose, book } = await start('{}', { status: 410 })
  expect(await propose()).toMatchObject({ proposals: [], leftOut: { unknown: 1 } })
  expect(await book()).toMatchObject({ kind: 'problem', problem: { slug: 'wrong-state' } })
})

test('an answer that needs no setting is left to people', async () => {
  const { propose } = await start('{"code":0}')
  expect(await propose()).toMatchObject({ proposals: [], leftOut: { unknown: 1 } })
})

test('an update of a kind without dates is released without a look at the service', async () => {
  const { propose, book, service } = await start(refused, { kind: 'keyword-difficulty' })
  service.dates = () => Promise.reject(new Error('nothing is read here'))
  expect((await propose()).proposals).toMatchObject([
    {
      outcome: 'did-not-run',
      because: 'RUN_REFUSED names the answer. No dates of the service can show whether it ran.',
    },
  ])
  expect(await book()).toMatchObject({ kind: 'done', update: { state: 'released', closedBy: 'person' } })
})

test('an update is not released if there is no time left to look for new data', async () => {
  const { book, clock, service } = await start(refused)
  service.dates = () => Promise.reject(new Error('nothing is read here'))
  expect(await book(clock.now() + 4_000)).toEqual({
    kind: 'problem',
    problem: {
      slug: 'undecided',
      members: {},
      detail: 'There was no time left to look for new data of shop. Nothing was booked for it; send the request again.',
    },
  })
})

test('an update is not released if its new data may be of another update of the same project', async () => {
  const { book, clock, service, ask, id } = await start(refused)
  clock.advance(24 * 3600_000)
  service.run = async () => ({
    kind: 'ran',
    stated: null,
    answer: { status: 200, contentType: null, body: '', truncated: false },
  })
  only(await ask({}, { key: 'next day' }))
  service.dates = async () => ({ kind: 'dates', dates: ['2026-11-21'] })
  expect(await book()).toMatchObject({
    kind: 'problem',
    problem: {
      slug: 'wrong-state',
      members: { update: id, state: 'in-doubt' },
      detail:
        'The ranking update of shop was not released: the service has new data that may be of this update. Try again later, or say by hand what happened.',
    },
  })
})

test('a booking is refused if the sweep found evidence after the look', async () => {
  const { book, before, service, sweep, guard, id } = await start(refused)
  service.dates = async () => ({ kind: 'dates', dates: [] })
  before.push(async () => {
    service.dates = async () => ({ kind: 'dates', dates: ['2026-11-20'] })
    before.length = 0
    await sweep()
    return false
  })
  expect(await book()).toMatchObject({ kind: 'problem', problem: { slug: 'wrong-state' } })
  expect(await guard.ledger.update(id)).toMatchObject({ state: 'settled', closedBy: 'evidence', charged: u(40) })
})
