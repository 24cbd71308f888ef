import type { EventReference } from '../../../../shared/events/deliveries.ts'
import type { OpenEvents } from '../../../../shared/events/events.ts'
import { typeOfNews } from '../../../../shared/events/news.ts'
import type { SendResult } from '../../../../shared/events/sender.ts'
import type { Target } from '../../../../shared/events/targets-file.ts'
import { type EventType, passes, typeOfVersion, typesOfEntries } from '../../../../shared/events/types.ts'
import { count } from '../../../../shared/guard/sentences.ts'
import type { Definitions } from '../../../../shared/ledger/definitions/definitions.ts'
import { monthAfter, monthAt } from '../../../../shared/ledger/definitions/windows.ts'
import type { Ledger } from '../../../../shared/ledger/ledger.ts'
import { pagesOf } from '../../../../shared/ledger/store/pages.ts'
import { dayMs } from '../../../../shared/platform/clock.ts'

/** Older updates change no more, because approval, doubt and late evidence end within a week each. */
const updateLastsMs = 31 * dayMs
const pageSize = 100

interface Span {
  readonly since: number
  readonly until: number
}

export interface PastEvent {
  readonly reference: EventReference
  readonly at: number
}

type PastLedger = Pick<Ledger, 'view' | 'updatesFrom' | 'entries' | 'newsFrom'>

/** The oldest first, so that an interrupted replay can continue. */
export async function findPastEvents(
  ledger: PastLedger,
  { types }: Pick<Target, 'types'>,
  { since, until }: Span,
): Promise<readonly PastEvent[]> {
  const { definitions, now } = await ledger.view()
  const span = { since: Math.max(since, definitions.createdAt - dayMs), until: Math.min(until, now + dayMs) }
  const found: PastEvent[] = []
  for (const past of [pastUpdates(ledger, span), pastChanges(ledger, span, definitions), pastNews(ledger, span)])
    for await (const { type, ...event } of past)
      if (type !== null && event.at >= since && event.at <= until && passes(types, type)) found.push(event)
  return found.toSorted((a, b) => a.at - b.at)
}

/** Changes that may be events. `type` is `null` for a change without an event. The target may not want the type. */
type Candidates = AsyncGenerator<PastEvent & { readonly type: EventType | null }, void>

/** Each line of a history is a version. */
async function* pastUpdates({ updatesFrom }: PastLedger, { since, until }: Span): Candidates {
  const span = { since: since - updateLastsMs, until }
  for await (const { rows } of pagesOf((cursor) => updatesFrom(span, pageSize, cursor)))
    for (const update of rows)
      for (const [index, { at }] of update.history.entries()) {
        const version = index + 1
        yield { reference: { kind: 'update', update: update.id, version }, at, type: typeOfVersion(update, version) }
      }
}

async function* pastChanges(
  { entries }: PastLedger,
  { since, until }: Span,
  { calendar }: Pick<Definitions, 'calendar'>,
): Candidates {
  // Processes whose clocks differ name different months around a renewal.
  let month = monthAt(calendar, since - dayMs)
  for (; month.start <= until + dayMs; month = monthAfter(calendar, month)) {
    const { name } = month
    for await (const { rows } of pagesOf((cursor) => entries({ month: name, since }, pageSize, cursor)))
      for (const { id, type, at, subjects = [] } of rows)
        for (const subject of subjects)
          yield { reference: { kind: 'entry', id, subject }, at, type: typesOfEntries[type] ?? null }
  }
}

async function* pastNews({ newsFrom }: PastLedger, span: Span): Candidates {
  for await (const { rows } of pagesOf((cursor) => newsFrom(span, pageSize, cursor)))
    for (const { id, createdAt, about } of rows)
      yield { reference: { kind: 'announcement', id }, at: createdAt, type: typeOfNews(about) }
}

export interface ReplayParts {
  readonly events: Pick<OpenEvents, 'eventOf' | 'deliver'>
  /** Cuts the current attempt. The next replay repeats it. */
  readonly stop: AbortSignal
  readonly pause: (ms: number) => Promise<void>
  readonly tell: (line: string) => void
}

/** A pause, because the target also gets new events meanwhile. */
const betweenMs = 50
const attemptLastsMs = 5_000
const maxAttempts = 3
const betweenAttemptsMs = 2_000
const toldEvery = 100

export interface Replayed {
  readonly sent: number
  /** Absent if all events were sent. Otherwise all events before `at` were sent. */
  readonly stopped?: { readonly at: number; readonly reason: string }
}

/** Sends the events one after another. A replay writes nothing, so it can be stopped at any time. */
export async function replay(parts: ReplayParts, target: Target, pastEvents: readonly PastEvent[]): Promise<Replayed> {
  let sent = 0
  for (const { reference, at } of pastEvents) {
    const result = await sendAgain(parts, target, reference)
    if (result === null) continue
    if (result.kind !== 'delivered') return { sent, stopped: { at, reason: result.reason } }
    sent++
    if (sent % toldEvery === 0) parts.tell(`${count(sent)} of ${count(pastEvents.length)} sent`)
    await parts.pause(betweenMs)
  }
  return { sent }
}

/** `null`: there is no such event any more. */
async function sendAgain(
  { events, stop, pause }: ReplayParts,
  target: Target,
  reference: EventReference,
): Promise<SendResult | null> {
  for (let attempt = 1; ; attempt++) {
    if (stop.aborted) return { kind: 'failed', reason: 'interrupted' }
    const event = await events.eventOf(reference)
    if (event === null) return null
    const deadline = AbortSignal.any([AbortSignal.timeout(attemptLastsMs), stop])
    const result = await events.deliver(event, target, deadline)
    if (stop.aborted && result.kind === 'failed') return { ...result, reason: 'interrupted' }
    if (result.kind !== 'failed' || attempt === maxAttempts) return result
    await pause(Math.max(result.afterMs ?? 0, betweenAttemptsMs * attempt))
  }
}
