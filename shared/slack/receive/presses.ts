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
import { callerOf, type EventAnswer, replaceWith, replyWith, whyNotAllowed } from './answer.ts'
import { type Command, parseCommand } from './command.ts'

type PressEvent = SlackEvent & { kind: 'press' }
type CommandEvent = SlackEvent & { kind: 'command' }
type Decision = Exclude<PressEvent['action'], 'confirm'>

/** After this time the price may have changed. */
const confirmWithinMs = hourMs

export interface PressesParts {
  guard: Guard
  clock: Clock
  kinds?: Kinds
}

/** Handles pressed buttons. Each button takes effect once, for all users and presses. */
export const createPresses = (parts: PressesParts) => ({
  handlePress: (event: PressEvent) => handlePress(parts, event),
})

async function handlePress(parts: PressesParts, event: PressEvent): Promise<EventAnswer> {
  const { guard } = parts
  if (event.action === 'confirm') return confirm(parts, event)
  const caller = callerOf(event)
  const refusal = whyNotAllowed(await guard.permissions({ caller }, { atOnce: true }), caller, 'approve')
  if (refusal !== null) return replyWith(refusal)
  return decide(parts, event, caller, event.action)
}

/** Uses the command's id as the key, so a second press replays the first. */
async function confirm(parts: PressesParts, event: PressEvent): Promise<EventAnswer> {
  const { kinds, guard, clock } = parts
  const { ledger } = guard
  const commandEvent = await ledger.slackEvents.get(event.value)
  const command = commandEvent?.kind === 'command' ? parseCommand(commandEvent.text, kinds) : null
  if (commandEvent?.kind !== 'command' || command?.do !== 'run' || !commandEvent.quotes) {
    return replaceWith('There is nothing to confirm here. Please type the command again.')
  }
  if (commandEvent.user !== event.user) return replyWith(await whyNotTheirs(parts, event))
  const caller = callerOf(event)
  const whyNot = whyNotAllowed(await guard.permissions({ caller }, { atOnce: true }), caller, 'run', 'propose')
  if (whyNot !== null) return replyWith(whyNot)
  if (commandEvent.updates) return answerConfirmed(parts, await updatesNamed(parts, commandEvent.updates))
  if (clock.now() - commandEvent.createdAt > confirmWithinMs) {
    return replaceWith('This was more than an hour ago, and prices may have moved. Please type the command again.')
  }
  const updates: Update[] = []
  let refusal: string | undefined
  for (const project of command.projects) {
    const answer = await submitFor(parts, project, command, { commandEvent, press: event })
    updates.push(...answer.updates)
    if (answer.updates.length === 0) refusal ??= answer.problem?.detail
  }
  if (updates.length === 0) return replyWith(refusal ?? 'Nothing was asked for.')
  await ledger.slackEvents.change({ ...commandEvent, updates: updates.map(({ id }) => id) }, commandEvent)
  return answerConfirmed(parts, updates, refusal)
}

async function whyNotTheirs({ guard }: PressesParts, event: PressEvent): Promise<string> {
  const caller = callerOf(event)
  const refusal = whyNotAllowed(await guard.permissions({ caller }, { atOnce: true }), caller, 'run', 'propose')
  return refusal ?? 'Only whoever typed this command may confirm it. You can type it yourself.'
}

function submitFor(
  { guard, clock }: PressesParts,
  project: string,
  { kind, budget, reason }: Command & { do: 'run' },
  { commandEvent, press }: { commandEvent: CommandEvent; press: PressEvent },
) {
  const key = `${commandEvent.id} ${project}`
  const { payers = {} } = commandEvent
  const shown = Object.hasOwn(payers, project) ? payers[project] : undefined
  return guard.submit(
    { caller: callerOf(press), via: 'slack', route: 'slack', key, replyTo: press.id },
    {
      kind,
      projects: [project],
      whenShort: 'fit',
      maxUnits: quoteOf(commandEvent, project),
      ...(shown && { shown }),
      ...(budget !== undefined && { budget }),
      ...(reason !== undefined && { reason }),
    },
    { respondAsync: true, endsAt: clock.now() },
  )
}

async function answerConfirmed(
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
  const outcome = await applyDecision(parts, action, id, by, event)
  const zone = zoneOf(await ledger.view())
  const remember = { updates: [id] }
  if (outcome.kind === 'done') return { message: pressedMessage({ update: outcome.update, by, zone }), remember }
  const { slug, detail } = outcome.problem
  const update = await ledger.update(id)
  if (!update || slug !== 'wrong-state') return replyWith(detail)
  // Another decision was faster, or a process died after it had decided for this press.
  if (update.state !== expectedState[action]) {
    return { message: pressedMessage({ update, by: deciderOf(update, action) ?? by, zone }), remember }
  }
  return action === 'approve' && isStale(parts, update, event) ? replaceWith(detail) : replyWith(detail)
}

/** Whether the button can no longer approve, because of the time or a higher price. */
const isStale = ({ clock }: PressesParts, update: Update, { shown }: PressEvent): boolean =>
  clock.now() >= (update.approvableUntil ?? Number.POSITIVE_INFINITY) || outgrown(update, shown ?? null) !== null

function applyDecision({ guard }: PressesParts, action: Decision, id: string, by: string, event: PressEvent) {
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

const expectedState = {
  approve: 'awaiting-approval',
  reject: 'awaiting-approval',
  'resolve-ran': 'in-doubt',
  'resolve-did-not-run': 'in-doubt',
} as const

const quoteOf = ({ quotes = {} }: CommandEvent, project: string): Units =>
  toUnits(Object.hasOwn(quotes, project) ? (quotes[project] ?? 0) : 0)

/** Returns the approver of a started update, or the person who ended the update. */
function deciderOf({ approval, state, history }: Update, action: Decision): string | undefined {
  const isOfApproval = expectedState[action] === 'awaiting-approval' && !unstartedEndStates.includes(state)
  return (isOfApproval && approval?.by) || history.find((line) => line.state === state)?.by
}

const unstartedEndStates: readonly State[] = ['rejected', 'cancelled', 'expired']
