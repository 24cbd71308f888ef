import { outgrown } from '../guard/barring.ts'
import type { Guard } from '../guard/guard.ts'
import { zoneOf } from '../guard/sentences.ts'
import type { SlackEvent } from '../ledger/slack-event.ts'
import type { State, Update } from '../ledger/update.ts'
import { type Clock, hourMs } from '../platform/clock.ts'
import { assertNever, toUnits, type Units } from '../platform/words.ts'
import { type Answered, sayInstead, sayTo } from './answering.ts'
import { section } from './blocks.ts'
import { type Command, parseCommand } from './command.ts'
import { barredFrom, callerOf } from './commanding.ts'
import { outcomeMessage, pressedMessage } from './messages/outcome.ts'
import { prose } from './text.ts'

type PressEvent = SlackEvent & { kind: 'press' }
type CommandEvent = SlackEvent & { kind: 'command' }
type Decision = Exclude<PressEvent['action'], 'confirm'>

/** A price of an hour ago is none to agree to. */
const confirmedWithinMs = hourMs

/** Does what a pressed button stands for: once, whoever presses it how often. */
export function createPresses({ guard, clock }: { guard: Guard; clock: Clock }) {
  const { ledger } = guard

  async function obey(event: PressEvent): Promise<Answered> {
    if (event.action === 'confirm') return confirm(event)
    const caller = callerOf(event)
    const barred = barredFrom(await guard.allowed({ caller }, { atOnce: true }), caller, 'approve')
    if (barred !== null) return sayTo(barred)
    return decide(event, caller, event.action)
  }

  /** The command's `trigger_id` is the key, as the item's id: pressed twice, it is replayed. */
  async function confirm(event: PressEvent): Promise<Answered> {
    const asked = await ledger.slackEvents.get(event.value)
    const command = asked?.kind === 'command' ? parseCommand(asked.text) : null
    if (asked?.kind !== 'command' || command?.do !== 'run' || !asked.quotes) {
      return sayInstead('There is nothing to confirm here. Please type the command again.')
    }
    if (asked.user !== event.user) return sayTo(await notTheirs(event))
    const caller = callerOf(event)
    const barred = barredFrom(await guard.allowed({ caller }, { atOnce: true }), caller, 'run', 'propose')
    if (barred !== null) return sayTo(barred)
    if (asked.updates) return confirmed(await updatesNamed(asked.updates))
    if (clock.now() - asked.createdAt > confirmedWithinMs) {
      return sayInstead('This was more than an hour ago, and prices may have moved. Please type the command again.')
    }
    const updates: Update[] = []
    let refusal: string | undefined
    for (const project of command.projects) {
      const answer = await askFor(project, command, { asked, press: event })
      updates.push(...answer.updates)
      if (answer.updates.length === 0) refusal ??= answer.problem?.detail
    }
    if (updates.length === 0) return sayTo(refusal ?? 'Nothing was asked for.')
    // Whoever presses again, however late, is shown these.
    await ledger.slackEvents.change({ ...asked, updates: updates.map(({ id }) => id) }, asked)
    return confirmed(updates, refusal)
  }

  /** To be told to type it oneself is of use only to those who may. */
  async function notTheirs(event: PressEvent): Promise<string> {
    const caller = callerOf(event)
    const barred = barredFrom(await guard.allowed({ caller }, { atOnce: true }), caller, 'run', 'propose')
    return barred ?? 'Only whoever typed this command may confirm it. You can type it yourself.'
  }

  function askFor(
    project: string,
    { kind, budget, reason }: Command & { do: 'run' },
    { asked, press }: { asked: CommandEvent; press: PressEvent },
  ) {
    const key = `${asked.id} ${project}`
    const { payers = {} } = asked
    const shown = Object.hasOwn(payers, project) ? payers[project] : undefined
    return guard.ask(
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

  async function confirmed(updates: readonly Update[], refusal?: string): Promise<Answered> {
    const outcome = outcomeMessage({ updates, zone: zoneOf(await ledger.view()), replaces: true })
    const blocks = refusal === undefined ? outcome.blocks : [...outcome.blocks, section(`⚠️ ${prose(refusal)}`)]
    return { message: { ...outcome, blocks }, remember: { updates: updates.map(({ id }) => id) } }
  }

  const updatesNamed = async (ids: readonly string[]): Promise<readonly Update[]> =>
    (await ledger.updatesNamed(ids)).filter((update) => update !== null)

  async function decide(event: PressEvent, by: string, action: Decision): Promise<Answered> {
    const id = event.value
    const decided = await decidedBy(action, id, by, event)
    const zone = zoneOf(await ledger.view())
    const remember = { updates: [id] }
    if (decided.kind === 'done') return { message: pressedMessage({ update: decided.update, by, zone }), remember }
    const { slug, detail } = decided.problem
    const update = await ledger.update(id)
    if (!update || slug !== 'wrong-state') return sayTo(detail)
    // Somebody was faster, or it is too late: the buttons go, and what happened stands there instead. Somebody may be
    // this very press, if the process that did what it asks for died before it could answer.
    if (update.state !== awaited[action]) {
      return { message: pressedMessage({ update, by: deciderOf(update, action) ?? by, zone }), remember }
    }
    return action === 'approve' && isStale(update, event) ? sayInstead(detail) : sayTo(detail)
  }

  /** No press of this button can agree to anything any more: it is too late, or what it showed has grown. */
  const isStale = (update: Update, { shown }: PressEvent): boolean =>
    clock.now() >= (update.approvableUntil ?? Number.POSITIVE_INFINITY) || outgrown(update, shown ?? null) !== null

  function decidedBy(action: Decision, id: string, by: string, event: PressEvent) {
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

  return { obey }
}

export type Presses = ReturnType<typeof createPresses>

const awaited = {
  approve: 'awaiting-approval',
  reject: 'awaiting-approval',
  'resolve-ran': 'in-doubt',
  'resolve-did-not-run': 'in-doubt',
} as const

/** What was shown is what may be spent; what was not shown may spend nothing. */
const quoteOf = ({ quotes = {} }: CommandEvent, project: string): Units =>
  toUnits(Object.hasOwn(quotes, project) ? (quotes[project] ?? 0) : 0)

/**
 * Whose word it was: whoever approved what came to be begun, and otherwise whoever ended it. What was approved may have
 * been put to people again, or cleared up by somebody else.
 */
function deciderOf({ approval, state, history }: Update, action: Decision): string | undefined {
  const isOfApproval = awaited[action] === 'awaiting-approval' && !endedUnbegun.includes(state)
  return (isOfApproval && approval?.by) || history.find((line) => line.state === state)?.by
}

const endedUnbegun: readonly State[] = ['rejected', 'cancelled', 'expired']
