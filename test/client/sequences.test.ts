import { beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { UnitGuard } from '../../shared/client/client.ts'

// Every sequence of up to four answers. The expected outcome follows from what may have become of the request at the guard.

/** Nothing; an attempt or its last write is still under way; or the request has taken effect. */
type World = 'nothing' | 'at work' | 'done'

interface Attempt {
  readonly answer: () => Response | Error
  /** What may be true after the attempt. Empty: the guard cannot answer this then. */
  readonly after: Readonly<Record<World, readonly World[]>>
  readonly isRepeated?: true
}
type Table = Readonly<Record<string, Attempt>>

const isSame: Attempt['after'] = { nothing: ['nothing'], 'at work': ['at work'], done: ['done'] }
const mayAct: Attempt['after'] = {
  nothing: ['nothing', 'at work', 'done'],
  'at work': ['at work', 'done'],
  done: ['done'],
}
const acts: Attempt['after'] = { nothing: ['done'], 'at work': ['done'], done: ['done'] }
/** The guard has read its records, and found none. */
const noRecord: Attempt['after'] = { ...isSame, done: [] }

const json = (status: number, body: object) =>
  new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json' } })
const problem = (status: number, slug: string, members: object = {}) =>
  json(status, { type: `/problems/${slug}`, title: 't', status, detail: slug, ...members })
const update = (state: string) => ({ id: 'upd_1', project: 'initech', state, units: { charged: 40 } })
const notOurs = (status: number) => new Response('<html>', { status })

const common: Table = {
  lost: { answer: () => new TypeError('fetch failed'), after: mayAct, isRepeated: true },
  proxy: { answer: () => notOurs(502), after: mayAct, isRepeated: true },
  'no ledger': { answer: () => problem(503, 'ledger-unavailable'), after: mayAct, isRepeated: true },
  /** Some of several may be recorded. */
  undecided: { answer: () => problem(503, 'undecided'), after: mayAct, isRepeated: true },
  'too many': { answer: () => problem(429, 'too-many-requests'), after: isSame, isRepeated: true },
  unauthorized: { answer: () => problem(401, 'unauthorized'), after: isSame },
  forbidden: { answer: () => problem(403, 'forbidden'), after: isSame },
  internal: { answer: () => problem(500, 'internal'), after: mayAct },
  invalid: { answer: () => problem(400, 'invalid-request'), after: { nothing: ['nothing'], 'at work': [], done: [] } },
  elsewhere: { answer: () => notOurs(404), after: isSame },
  'no token': { answer: () => new Error('the token function is called before'), after: isSame },
}

const updates: Table = {
  ...common,
  settled: { answer: () => json(201, { updates: [update('settled')] }), after: acts },
  refused: { answer: () => problem(402, 'over-budget', { updates: [update('refused')] }), after: acts },
  // Another call may have used the key.
  pending: {
    answer: () => problem(409, 'in-progress', { updates: [update('running')] }),
    after: acts,
    isRepeated: true,
  },
  'no estimate': { answer: () => problem(502, 'estimate-unreadable'), after: noRecord },
  duplicate: { answer: () => problem(409, 'duplicate-work'), after: noRecord },
}

const cancellations: Table = {
  ...common,
  cancelled: {
    answer: () => json(200, { updates: [update('cancelled')], notCancelled: [] }),
    after: { ...acts, done: [] },
  },
  /** It runs, has ended, or is cancelled already. */
  'wrong state': { answer: () => problem(409, 'wrong-state'), after: { ...isSame, 'at work': ['nothing', 'done'] } },
}

const worldsAfter = (table: Table, sequence: readonly string[]): readonly World[] =>
  sequence.reduce<readonly World[]>(
    (worlds, name) => [...new Set(worlds.flatMap((world) => table[name]?.after[world] ?? []))],
    ['nothing'],
  )

interface How {
  /** The client has a token function, which it calls again after the first 401. */
  readonly renews: boolean
  readonly most: number
}

function sequencesOf(table: Table, how: How, before: readonly string[] = []): string[][] {
  const { renews, most } = how
  return Object.entries(table).flatMap(([name, { isRepeated }]) => {
    const sequence = [...before, name]
    if (worldsAfter(table, sequence).length === 0 || (name === 'no token' && !renews)) return []
    const isRenewed = renews && name === 'unauthorized' && !before.includes(name)
    const mayContinue = (isRenewed || isRepeated === true) && sequence.length < most
    const longer = mayContinue ? sequencesOf(table, how, sequence) : []
    return isRenewed ? longer : [sequence, ...longer]
  })
}

let now = 0
beforeEach(() => {
  vi.spyOn(performance, 'now').mockImplementation(() => now)
  vi.spyOn(globalThis, 'setTimeout').mockImplementation(((act: () => void, ms: number) => {
    now += ms
    queueMicrotask(act)
  }) as typeof setTimeout)
  vi.spyOn(AbortSignal, 'timeout').mockReturnValue(new AbortController().signal)
  onTestFinished(() => void vi.restoreAllMocks())
})

const deadlineMs = 60_000

/** A client that gets these answers to its POSTs. Its deadline passes with the last one. */
function clientOf(table: Table, sequence: readonly string[], { renews }: How, read = () => notOurs(500)) {
  let sent = 0
  const keys = new Set<string | null>()
  const next = (): Attempt | undefined => {
    const name = sequence[sent++] ?? ''
    if (sent === sequence.length) now += deadlineMs
    return table[name]
  }
  const token = () => {
    if (sequence[sent] === 'no token') throw next()?.answer()
    return 't'
  }
  const guard = new UnitGuard({
    url: 'http://guard',
    deadlineMs,
    token: renews ? token : 't',
    fetch: async (_url, { method, headers } = {}) => {
      if (method === 'GET') return read()
      keys.add(new Headers(headers).get('idempotency-key'))
      const answer = next()?.answer()
      if (answer instanceof Response) return answer
      throw answer
    },
  })
  return { guard, isAsExpected: () => sent === sequence.length && keys.size < 2 }
}

const error = { kind: 'error' } as const
const isNothing = (world: World): boolean => world === 'nothing'
const fails = (last: string | undefined): boolean => last === 'elsewhere' || last === 'no token'

const fixed = { renews: false, most: 4 }

function expectedUpdate(sequence: readonly string[]): string {
  const last = sequence.at(-1) ?? ''
  if (['settled', 'refused', 'pending'].includes(last)) return last
  if (!worldsAfter(updates, sequence).every(isNothing)) return 'unanswered'
  return fails(last) ? 'error' : 'problem'
}

test.each([
  ['a fixed token', fixed],
  ['a token function', { renews: true, most: 4 }],
])('client.update says after up to four attempts no more than all of them prove, with %s', async (_, how) => {
  const wrong: object[] = []
  const sequences = sequencesOf(updates, how)
  expect(sequences.length).toBeGreaterThan(2_500)
  for (const sequence of sequences) {
    const { guard, isAsExpected } = clientOf(updates, sequence, how)
    const { kind } = await guard.update({ kind: 'ranking', project: 'initech' }, { key: 'k' }).catch(() => error)
    const expected = expectedUpdate(sequence)
    if (kind !== expected || !isAsExpected()) wrong.push({ sequence, kind, expected })
  }
  expect(wrong.slice(0, 5)).toEqual([])
})

/** @param seen the state in which the client finds the update afterwards. `null`: it may not read it. */
function expectedCancellation(sequence: readonly string[], seen: World | null): string {
  const last = sequence.at(-1)
  if (last === 'cancelled') return last
  if (worldsAfter(cancellations, sequence).every(isNothing)) return fails(last) ? 'error' : 'problem'
  const isLookedAt = !worldsAfter(cancellations, sequence.slice(0, -1)).every(isNothing)
  if (!isLookedAt || last === 'lost' || last === 'proxy' || fails(last)) return 'unanswered'
  if (seen === 'done') return 'cancelled'
  return last === 'wrong state' && seen !== null ? 'problem' : 'unanswered'
}

test.each([
  ['a fixed token', fixed],
  ['a token function', { renews: true, most: 3 }],
])('client.cancel says after up to four attempts no more than all of them prove, with %s', async (_, how) => {
  const wrong: object[] = []
  const sequences = sequencesOf(cancellations, how)
  expect(sequences.length).toBeGreaterThan(400)
  for (const sequence of sequences) {
    for (const seen of [null, ...worldsAfter(cancellations, sequence)]) {
      const read = () =>
        seen === null ? problem(403, 'forbidden') : json(200, update(seen === 'done' ? 'cancelled' : 'running'))
      const { guard, isAsExpected } = clientOf(cancellations, sequence, how, read)
      const { kind } = await guard.cancel(['upd_1']).catch(() => error)
      const expected = expectedCancellation(sequence, seen)
      if (kind !== expected || !isAsExpected()) wrong.push({ sequence, seen, kind, expected })
    }
  }
  expect(wrong.slice(0, 5)).toEqual([])
})
