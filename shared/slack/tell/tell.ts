import { isDeepStrictEqual } from 'node:util'
import type { Guard } from '../../guard/guard.ts'
import type { Troubles } from '../../guard/troubles/troubles.ts'
import { type Announcement, asksForApproval, decisionNewsOf } from '../../ledger/updates/tasks.ts'
import type { Update } from '../../ledger/updates/update.ts'
import type { Clock } from '../../platform/clock.ts'
import { inTraceOf, type Log } from '../../platform/log.ts'
import { type SlackMessage, slackEvents } from '../slack-events.ts'
import { type SweepOptions, sweepTasks } from '../sweep.ts'
import { maxTogether } from './approvals.ts'
import type { SendResult } from './client.ts'
import type { Composed, Composer } from './compose.ts'
import { sharedNewsInDoubt } from './doubts.ts'
import { isOfToken, type Poster } from './post.ts'

/** On AWS these tries last about 17 hours, because a sweep runs every five minutes. */
const maxTries = 200
const waitForAnswerMs = 5_000
const pollEveryMs = 250
/** Each later change has its own stream record, which edits the message again. */
const maxEdits = 3

export interface TellerParts {
  guard: Guard
  troubles: Pick<Troubles, 'begin' | 'end'>
  composer: Composer
  poster: Poster
  clock: Clock
  log: Log
}

type Posted = Announcement & Required<Pick<Announcement, 'posted'>>

type TellResult = SendResult & Pick<Announcement, 'posted' | 'partOf'>

const sent: TellResult = { kind: 'sent' }

/** Retries each announcement until Slack takes it or refuses it for good, so it may be sent twice. */
export const createTeller = (parts: TellerParts) => ({
  tell: (id: string) => tell(parts, id),
  refresh: (update: string) => refresh(parts, update),
  shows: (message: SlackMessage | undefined, update: string) => shows(parts, message, update),
  /** Sends the oldest announcement first, because readers believe that the last message shows the current state. */
  sweep: async (options: SweepOptions): Promise<void> => {
    const failed = (announcement: string, cause: unknown) => parts.log.error('not-told', { announcement, cause })
    await sweepTasks(
      parts.guard.ledger.announcements,
      { ...options, clock: parts.clock },
      (announcement) =>
        inTraceOf({ ...announcement, update: updateOf(announcement) }, () =>
          tell(parts, announcement.id).catch((cause) => failed(announcement.id, cause)),
        ),
      failed,
    )
    await recount(parts, options)
  },
})

export type Teller = ReturnType<typeof createTeller>

const updateOf = ({ about }: Announcement): string | undefined => ('update' in about ? about.update : undefined)

async function tell(parts: TellerParts, id: string): Promise<void> {
  const { guard, troubles, clock, log } = parts
  const { announcements } = guard.ledger
  const announcement = await announcements.get(id)
  if (!announcement || announcement.doneAt !== undefined || clock.now() < (announcement.notBefore ?? 0)) return
  const result = await send(parts, announcement)
  const now = clock.now()
  if (result.kind === 'sent') {
    const { posted, partOf } = result
    const done = { ...announcement, doneAt: now, ...(posted && { posted }), ...(partOf !== undefined && { partOf }) }
    await announcements.change(done, announcement)
    // Nothing was sent for an edit, a message of another update, or news that is over.
    if (result !== sent && !isPosted(announcement) && partOf === undefined) await troubles.end('slack-refuses')
    return
  }
  const isOver = result.kind === 'refused' || announcement.tries + 1 >= maxTries
  if (isOver || isOfToken(result)) await troubles.begin('slack-refuses', result.reason)
  if (isOver) log.error('announcement-lost', { announcement: id, tries: announcement.tries + 1, reason: result.reason })
  await announcements.change(
    {
      ...announcement,
      tries: announcement.tries + 1,
      ...(isOver ? { doneAt: now, givenUp: result.reason } : { notBefore: now + afterMsOf(result) }),
    },
    announcement,
  )
}

async function send(parts: TellerParts, announcement: Announcement): Promise<TellResult> {
  const { composer, poster } = parts
  const { id, about } = announcement
  if (about.kind === 'outcome') return sendOutcome(parts, { id, about })
  if (isPosted(announcement)) return keepCurrent(parts, announcement, null)
  const hasBot = await poster.hasBot()
  const together = hasBot ? await postedTogether(parts, announcement) : []
  if ('kind' in together) return together
  const composed = await composer.compose(announcement, { hasBot, together })
  if (!composed) return sent
  const result = await poster.toChannel(composed.message, id, composed.channel)
  if (result.kind !== 'sent' || !result.posted) return result
  const { updates } = composed
  const posted = { ...result.posted, ...(updates && updates.length > 1 && { updates }) }
  if (!updates) return { kind: 'sent', posted }
  const current = await keepCurrent(parts, { ...announcement, posted }, composed)
  return current.kind === 'sent' ? current : { kind: 'sent', posted }
}

const isPosted = (announcement: Announcement): announcement is Posted => announcement.posted !== undefined

/** @param shown the message as it was posted. `null`: unknown. */
async function keepCurrent(
  { composer, poster }: TellerParts,
  announcement: Posted,
  shown: Composed | null,
): Promise<TellResult> {
  const { posted } = announcement
  let last = shown
  for (let edits = 0; edits < maxEdits; edits++) {
    const composed = await composer.compose(announcement, { hasBot: true })
    if (!composed || isDeepStrictEqual(composed.message, last?.message)) break
    const result = await poster.edit(posted, composed.message)
    if (result.kind === 'try-again') return result
    // A deleted message needs no edit.
    if (result.kind === 'refused') break
    last = composed
  }
  return { kind: 'sent', posted: last?.doubts === undefined ? posted : { ...posted, doubts: last.doubts } }
}

async function refresh(parts: TellerParts, id: string): Promise<void> {
  if (!(await parts.poster.hasBot())) return
  const { ledger } = parts.guard
  const edited = new Set<string>()
  for (const announcement of await postedAbout(parts, await ledger.update(id))) {
    if (edited.has(announcement.id)) continue
    edited.add(announcement.id)
    await edit(parts, announcement)
  }
}

/** After a failed edit the announcement is open again, and the sweep retries it. */
async function edit(parts: TellerParts, announcement: Posted): Promise<void> {
  const { announcements } = parts.guard.ledger
  const result = await keepCurrent(parts, announcement, null)
  if (result.kind === 'try-again') {
    const { doneAt: _done, ...open } = announcement
    const tries = announcement.tries + 1
    await announcements.change({ ...open, tries, notBefore: parts.clock.now() + result.afterMs }, announcement)
    return
  }
  const { posted } = result
  if (posted && posted.doubts !== announcement.posted.doubts) {
    await announcements.change({ ...announcement, posted }, announcement)
  }
}

/** Edits messages whose number of doubts is wrong, because the index lagged when they were written. */
async function recount(parts: TellerParts, { endsAt }: SweepOptions): Promise<void> {
  const { guard, clock, log } = parts
  for (const id of await sharedNewsInDoubt(guard.ledger)) {
    if (clock.now() >= endsAt) return
    const announcement = await guard.ledger.announcements.get(id)
    if (!announcement || announcement.doneAt === undefined || !isPosted(announcement)) continue
    await recountIn(parts, announcement).catch((cause) =>
      log.error('not-refreshed', { update: updateOf(announcement), cause }),
    )
  }
}

async function recountIn(parts: TellerParts, announcement: Posted): Promise<void> {
  if (!(await parts.poster.hasBot())) return
  const composed = await parts.composer.compose(announcement, { hasBot: true })
  if (composed && composed.doubts !== announcement.posted.doubts) await edit(parts, announcement)
}

async function shows(parts: TellerParts, message: SlackMessage | undefined, id: string): Promise<boolean> {
  if (message === undefined) return false
  const posted = await postedAbout(parts, await parts.guard.ledger.update(id))
  return posted.some((first) => first.posted.channel === message.channel && first.posted.ts === message.ts)
}

/** Finds the messages that ask for decisions about an update. */
async function postedAbout(
  parts: TellerParts,
  update: Update | null,
  kind?: Announcement['about']['kind'],
): Promise<readonly Posted[]> {
  const ids = (update ? decisionNewsOf(update) : []).filter((id) => kind === undefined || id.includes(`#${kind}#`))
  const found = []
  for (const id of ids) found.push(await firstOf(parts, await parts.guard.ledger.announcements.get(id)))
  return found.filter((first) => first !== null)
}

async function firstOf({ guard }: TellerParts, announcement: Announcement | null): Promise<Posted | null> {
  const first =
    announcement?.partOf === undefined ? announcement : await guard.ledger.announcements.get(announcement.partOf)
  return first && isPosted(first) ? first : null
}

/** Adds the update to a message of the same request. If none has room, returns the updates that no message shows yet. */
async function postedTogether(parts: TellerParts, { about }: Announcement): Promise<TellResult | readonly Update[]> {
  if (!asksForApproval(about)) return []
  const update = await parts.guard.ledger.update(about.update)
  const waiting = update ? await parts.composer.awaitingWith(update) : []
  const messages = new Map<string, Posted>()
  for (const other of waiting)
    for (const first of await postedAbout(parts, other.update, about.kind)) messages.set(first.id, first)
  const shown = new Set<string>()
  for (const first of messages.values()) {
    const updates = shownIn(first)
    if (updates.includes(about.update)) return { kind: 'sent', partOf: first.id }
    for (const id of updates) shown.add(id)
  }
  for (const first of messages.values()) {
    const result = shownIn(first).length < maxTogether ? await addTo(parts, first, about.update) : null
    if (result) return result
  }
  return waiting.flatMap(({ update, isNear }) => (isNear && !shown.has(update.id) ? update : []))
}

const shownIn = (first: Posted): readonly string[] => first.posted.updates ?? [updateOf(first) ?? '']

/** `null`: another process changed the message. */
async function addTo(parts: TellerParts, first: Posted, update: string): Promise<TellResult | null> {
  const posted = { ...first.posted, updates: [...shownIn(first), update] }
  if (!(await parts.guard.ledger.announcements.change({ ...first, posted }, first))) return null
  const result = await keepCurrent(parts, { ...first, posted }, null)
  return result.kind === 'sent' ? { kind: 'sent', partOf: first.id } : result
}

type OutcomeAnnouncement = Pick<Announcement, 'id'> & {
  readonly about: Extract<Announcement['about'], { kind: 'outcome' }>
}

async function sendOutcome(parts: TellerParts, { id, about }: OutcomeAnnouncement): Promise<SendResult> {
  const { guard, composer, poster } = parts
  const event = await waitForAnswer(parts, about.replyTo)
  if (!event) return sent
  if (event.doneAt === undefined) return { kind: 'try-again', afterMs: waitForAnswerMs, reason: 'not yet answered' }
  const outcome = await composer.outcome(event)
  if (!outcome) return sent
  const result = await poster.toAsker(event, outcome.message)
  if (result.kind !== 'sent') return result
  await guard.ledger.queue(slackEvents).change({ ...event, answers: event.answers + 1 }, event)
  await Promise.all(outcome.updates.map((update) => markTold(parts, update, event.id, id)))
  return result
}

/** One message reports all updates of a request, so the announcements of its other updates are done. */
async function markTold({ guard, clock }: TellerParts, update: Update, replyTo: string, toldBy: string): Promise<void> {
  const { announcements } = guard.ledger
  const id = outcomeId(update, replyTo)
  const announcement = id === toldBy ? null : await announcements.get(id)
  if (announcement && announcement.doneAt === undefined)
    await announcements.change({ ...announcement, doneAt: clock.now() }, announcement)
}

/** The answer and the outcome replace the same message, so the answer must come first. */
async function waitForAnswer({ guard, clock }: TellerParts, id: string) {
  for (let waitedMs = 0; ; waitedMs += pollEveryMs) {
    const event = await guard.ledger.queue(slackEvents).get(id)
    if (!event || event.doneAt !== undefined || waitedMs >= waitForAnswerMs) return event
    await clock.sleep(pollEveryMs)
  }
}

const afterMsOf = (result: SendResult): number => (result.kind === 'try-again' ? result.afterMs : 0)

const outcomeId = ({ id, version }: Update, replyTo: string): string => `${id}#outcome#${version}#${replyTo}`
