import type { Guard } from '../../guard/guard.ts'
import { outgrown } from '../../guard/people/permissions.ts'
import { zoneOf } from '../../guard/sentences.ts'
import type { SlackEvent } from '../../ledger/updates/tasks.ts'
import type { State, Update } from '../../ledger/updates/update.ts'
import { type Clock, hourMs } from '../../platform/clock.ts'
import { assertNever, toUnits, type Units } from '../../platform/words.ts'
import type { Kinds } from '../../tracking/kinds.ts'
import { section } from '../blocks.ts'
import { outcomeMessage, pressedMessage } from '../messages/updates.ts'
import { prose } from '../text.ts'
import { callerOf, type EventAnswer, sayInstead, sayTo, whyNotAllowed } from './answer.ts'
import { type Command, parseCommand } from './command.ts'

type PressEvent = SlackEvent & { kind: 'press' }
type CommandEvent = SlackEvent & { kind: 'command' }
type Decision = Exclude<PressEvent['action'], 'confirm'>

/** An older price may have changed. */
const confirmedWithinMs = hourMs

export interface PressesParts {
  guard: Guard
  clock: Clock
  kinds?: Kinds
}

/** Handles pressed buttons: each takes effect once, for all users and presses. */
export const createPresses = (parts: PressesParts) => ({
  obey: (event: PressEvent) => obey(parts, event),
})

async function obey(parts: PressesParts, event: PressEvent): Promise<EventAnswer> {
  const { guard } = parts
  if (event.action === 'confirm') return confirm(parts, event)
  const caller = callerOf(event)
  const refusal = whyNotAllowed(await guard.permissions({ caller }, { atOnce: true }), caller, 'approve')
  if (refusal !== null) return sayTo(refusal)
  return decide(parts, event, caller, event.action)
}

/** The command's id is the key, so a second press replays the first. */
async function confirm(parts: PressesParts, event: PressEvent): Promise<EventAnswer> {
  const { kinds, guard, clock } = parts
  const { ledger } = guard
  const asked = await ledger.slackEvents.get(event.value)
  const command = asked?.kind === 'command' ? parseCommand(asked.text, kinds) : null
  if (asked?.kind !== 'command' || command?.do !== 'run' || !asked.quotes) {
    return sayInstead('There is nothing to confirm here. Please type the command again.')
  }
  if (asked.user !== event.user) return sayTo(await notTheirs(parts, event))
  const caller = callerOf(event)
  const forbidden = whyNotAllowed(await guard.permissions({ caller }, { atOnce: true }), caller, 'run', 'propose')
  if (forbidden !== null) return sayTo(forbidden)
  if (asked.updates) return confirmed(parts, await updatesNamed(parts, asked.updates))
  if (clock.now() - asked.createdAt > confirmedWithinMs) {
    return sayInstead('This was more than an hour ago, and prices may have moved. Please type the command again.')
  }
  const updates: Update[] = []
  let refusal: string | undefined
  for (const project of command.projects) {
    const answer = await askFor(parts, project, command, { asked, press: event })
    updates.push(...answer.updates)
    if (answer.updates.length === 0) refusal ??= answer.problem?.detail
  }
  if (updates.length === 0) return sayTo(refusal ?? 'Nothing was asked for.')
  // A later press shows these.
  await ledger.slackEvents.change({ ...asked, updates: updates.map(({ id }) => id) }, asked)
  return confirmed(parts, updates, refusal)
}

/** Only users who may run updates read that they can type the command. */
async function notTheirs({ guard }: PressesParts, event: PressEvent): Promise<string> {
  const caller = callerOf(event)
  const refusal = whyNotAllowed(await guard.permissions({ caller }, { atOnce: true }), caller, 'run', 'propose')
  return refusal ?? 'Only whoever typed this command may confirm it. You can type it yourself.'
}

function askFor(
  { guard, clock }: PressesParts,
  project: string,
  { kind, budget, reason }: Command & { do: 'run' },
  { asked, press }: { asked: CommandEvent; press: PressEvent },
) {
  const key = `${asked.id} ${project}`
  const { payers = {} } = asked
  const shown = Object.hasOwn(payers, project) ? payers[project] : undefined
  return guard.submit(
    { caller: callerOf(press), via: 'slack', route: 'slack', key, replyTo: press.id },
    {
      kind,
      projects: [project],
      whenShort: 'fit',
      maxUnits: quoteOf(asked, project),
      ...(shown && { shown }),
      ...(budget !== undefined && { budget }),
      ...(reason !== undefined && { reason }),
    },
    { respondAsync: true, endsAt: clock.now() },
  )
}

async function confirmed(
  { guard: { ledger } }: PressesParts,
  updates: readonly Update[],
  refusal?: string,
): Promise<EventAnswer> {
  const outcome = outcomeMessage({ updates, zone: zoneOf(await ledger.view()), replaces: true })
  const blocks = refusal === undefined ? outcome.blocks : [...outcome.blocks, section(`⚠️ ${prose(refusal)}`)]
  return { message: { ...outcome, blocks }, remember: { updates: updates.map(({ id }) => id) } }
}

async function updatesNamed({ guard: { ledger } }: PressesParts, ids: readonly string[]): Promise<readonly Update[]> {
  return (await ledger.updatesNamed(ids)).filter((update) => update !== null)
}

async function decide(parts: PressesParts, event: PressEvent, by: string, action: Decision): Promise<EventAnswer> {
  const { guard } = parts
  const { ledger } = guard
  const id = event.value
  const decided = await decidedBy(parts, action, id, by, event)
  const zone = zoneOf(await ledger.view())
  const remember = { updates: [id] }
  if (decided.kind === 'done') return { message: pressedMessage({ update: decided.update, by, zone }), remember }
  const { slug, detail } = decided.problem
  const update = await ledger.update(id)
  if (!update || slug !== 'wrong-state') return sayTo(detail)
  // Another decision was faster, it is too late, or a process decided for this press and died: show the outcome.
  if (update.state !== awaited[action]) {
    return { message: pressedMessage({ update, by: deciderOf(update, action) ?? by, zone }), remember }
  }
  return action === 'approve' && isStale(parts, update, event) ? sayInstead(detail) : sayTo(detail)
}

/** The button cannot approve any more: it is too late, or the price grew. */
const isStale = ({ clock }: PressesParts, update: Update, { shown }: PressEvent): boolean =>
  clock.now() >= (update.approvableUntil ?? Number.POSITIVE_INFINITY) || outgrown(update, shown ?? null) !== null

function decidedBy({ guard }: PressesParts, action: Decision, id: string, by: string, event: PressEvent) {
  const reason = 'as pressed in Slack'
  switch (action) {
    case 'approve':
      return guard.approve(id, by, { replyTo: event.id, shown: event.shown ?? null })
    case 'reject':
      return guard.reject(id, by)
    case 'resolve-ran':
      return guard.resolve(id, by, { outcome: 'ran', reason })
    case 'resolve-did-not-run':
      return guard.resolve(id, by, { outcome: 'did-not-run', reason })
    default:
      return assertNever(action)
  }
}

export type Presses = ReturnType<typeof createPresses>

const awaited = {
  approve: 'awaiting-approval',
  reject: 'awaiting-approval',
  'resolve-ran': 'in-doubt',
  'resolve-did-not-run': 'in-doubt',
} as const

/** Only the price that was shown may be spent. */
const quoteOf = ({ quotes = {} }: CommandEvent, project: string): Units =>
  toUnits(Object.hasOwn(quotes, project) ? (quotes[project] ?? 0) : 0)

/** The approver of an update that began; otherwise the person who ended it. */
function deciderOf({ approval, state, history }: Update, action: Decision): string | undefined {
  const isOfApproval = awaited[action] === 'awaiting-approval' && !endedUnbegun.includes(state)
  return (isOfApproval && approval?.by) || history.find((line) => line.state === state)?.by
}

const endedUnbegun: readonly State[] = ['rejected', 'cancelled', 'expired']
