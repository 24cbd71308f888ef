import { deliveryScopes } from '../../guard/inbox/close-delivery.ts'
import { type Decision, decisions, isResolution, outgrown } from '../../guard/people/decisions.ts'
import type { Permissions } from '../../guard/people/permissions.ts'
import { notEntered } from '../../guard/problems.ts'
import { units as inUnits } from '../../guard/sentences.ts'
import type { Update } from '../../ledger/updates/update.ts'
import { hourMs } from '../../platform/clock.ts'
import { digest } from '../../platform/ids.ts'
import { toUnits, type Units } from '../../platform/words.ts'
import { section } from '../blocks.ts'
import { doneMessage } from '../messages/help.ts'
import { grantIn } from '../messages/modals.ts'
import { decidedMessage, deciderOf, outcomeMessage } from '../messages/updates.ts'
import { type PressedAction, type SlackEvent, slackEvents } from '../slack-events.ts'
import {
  type AnswerParts,
  callerOf,
  type EventAnswer,
  notTheirs,
  placeOf,
  replaceWith,
  replyWith,
  updatesNamed,
  whyNotAllowed,
} from '../tell/answer.ts'
import type { Teller } from '../tell/tell.ts'
import { prose } from '../text.ts'
import { type Command, parseCommand } from './command.ts'
import { confirmReconciliation } from './reconcile.ts'

type PressEvent = SlackEvent & { kind: 'press' }
type CommandEvent = SlackEvent & { kind: 'command' }

const decisionOf: Partial<Record<PressedAction, Decision>> = {
  approve: 'approve',
  reject: 'reject',
  'resolve-ran': 'ran',
  'resolve-did-not-run': 'did-not-run',
}

const deliveryOf: Partial<Record<PressedAction, keyof typeof deliveryScopes>> = {
  'delivery-came': 'came',
  'given-back': 'given-back',
}

/** After this time the price may have changed. */
const confirmWithinMs = hourMs

export interface PressesParts extends AnswerParts {
  readonly teller: Pick<Teller, 'refresh' | 'shows'>
}

/** Each button takes effect once, even if several users press it. */
export async function handlePress(whole: PressesParts, event: PressEvent): Promise<EventAnswer> {
  const { action } = event
  if (action === 'unopened')
    return replyWith('Slack did not open the form in time, so nothing was done. Please press the button again.')
  const caller = callerOf(event)
  const allowed = await whole.guard.permissions({ caller }, { atOnce: true })
  const parts = { ...whole, guard: allowed.guard }
  if (action === 'confirm' || action === 'ask') return confirm(parts, event, allowed)
  const delivery = deliveryOf[action]
  if (delivery) return closeDelivery(parts, event, allowed, delivery)
  const decision = decisionOf[action]
  const refusal = whyNotAllowed(allowed, ...(decision ? decisions[decision].scopes : (['admin'] as const)))
  if (refusal !== null) return replyWith(refusal)
  if (decision) return decide(parts, event, allowed, decision)
  return action === 'grant' ? grant(parts, event, caller) : lift(parts, event, caller)
}

/** The command's id is the idempotency key, so a second press replays the first. */
async function confirm(parts: PressesParts, event: PressEvent, allowed: Permissions): Promise<EventAnswer> {
  const { kinds, guard, clock } = parts
  const events = guard.ledger.queue(slackEvents)
  const commandEvent = await events.get(event.value)
  const command = commandEvent?.kind === 'command' ? parseCommand(commandEvent.text, kinds) : null
  if (commandEvent?.kind === 'command' && command?.do === 'reconcile')
    return confirmReconciliation(parts, command, { commandEvent, press: event, allowed })
  if (commandEvent?.kind !== 'command' || command?.do !== 'run' || !commandEvent.quotes) {
    return replaceWith('There is nothing to confirm here. Please type the command again.')
  }
  const whyNot = whyNotAllowed(allowed, 'run', 'propose')
  if (whyNot !== null) return replyWith(whyNot)
  if (commandEvent.user !== event.user) return replyWith(notTheirs)
  if (commandEvent.updates) return answerConfirmed(parts, await updatesNamed(guard, commandEvent.updates))
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
  await events.change({ ...commandEvent, updates: updates.map(({ id }) => id) }, commandEvent)
  return answerConfirmed(parts, updates, refusal)
}

function submitFor(
  { guard, clock }: PressesParts,
  project: string,
  { kind, budget, reason, tags }: Command & { do: 'run' },
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
      whenShort: press.action === 'ask' ? 'ask' : 'fit',
      maxUnits: quoteOf(commandEvent, project),
      ...(shown && { shown }),
      ...(budget !== undefined && { budget }),
      ...(reason !== undefined && { reason }),
      ...(tags && { tags }),
    },
    { respondAsync: true, endsAt: clock.now() },
  )
}

async function answerConfirmed(
  parts: PressesParts,
  updates: readonly Update[],
  refusal?: string,
): Promise<EventAnswer> {
  const { shown, ...place } = await placeOf(parts)
  const outcome = outcomeMessage({ updates: updates.map(shown), replaces: true, ...place })
  const blocks = refusal === undefined ? outcome.blocks : [...outcome.blocks, section(`⚠️ ${prose(refusal)}`)]
  return { message: { ...outcome, blocks }, remember: { updates: updates.map(({ id }) => id) } }
}

async function decide(
  parts: PressesParts,
  event: PressEvent,
  by: Permissions,
  decision: Decision,
): Promise<EventAnswer> {
  const { guard, teller } = parts
  const { ledger } = guard
  const id = event.value
  // An announcement is edited and not replaced, because it may show other updates, too.
  const isKept = event.isHome === true || (await teller.shows(event.message, id))
  const outcome = await guard.decide(decision, id, by, {
    reason: isResolution(decision) ? 'as pressed in Slack' : event.reason,
    units: event.units,
    shown: event.shown ?? null,
    replyTo: isKept ? undefined : event.id,
  })
  if (isKept) await teller.refresh(id)
  const { shown, ...place } = await placeOf(parts)
  const decided = (update: Update, decider: (of: Update) => string): EventAnswer =>
    isKept
      ? { message: null }
      : {
          message: decidedMessage({ update: shown(update), by: decider(shown(update)), ...place }),
          remember: { updates: [id] },
        }
  if (outcome.kind === 'done') return decided(outcome.update, () => by.caller)
  const { slug, detail } = outcome.problem
  const update = await ledger.update(id)
  if (!update || slug !== 'wrong-state') return replyWith(detail)
  // Another decision was faster, or a process died after deciding for this press.
  const asked = isResolution(decision) ? 'in-doubt' : 'awaiting-approval'
  if (update.state !== asked) return decided(update, (of) => deciderOf(of, asked))
  const isOver = decision === 'approve' && !isKept && isStale(parts, update, event)
  return isOver ? replaceWith(detail) : replyWith(detail)
}

/** The approval comes too late, or the price has grown. */
const isStale = ({ clock }: PressesParts, update: Update, { shown }: PressEvent): boolean =>
  clock.now() >= (update.approvableUntil ?? Number.POSITIVE_INFINITY) || outgrown(update, shown ?? null) !== null

async function closeDelivery(
  { guard }: PressesParts,
  { value: id, units, reason = 'as pressed in Slack' }: PressEvent,
  by: Permissions,
  outcome: keyof typeof deliveryScopes,
): Promise<EventAnswer> {
  const refusal = whyNotAllowed(by, ...deliveryScopes[outcome])
  if (refusal !== null) return replyWith(refusal)
  const closed = await guard.closeDelivery(outcome, id, by, { reason, units })
  if (closed.kind === 'problem') return replyWith(closed.problem.detail)
  const { project, charged = 0 } = closed.update
  return {
    message: doneMessage(
      outcome === 'came'
        ? `The data of ${project} came.`
        : `The service gave units back: the update of ${project} is charged ${inUnits(charged)}.`,
    ),
  }
}

/** Lifts the stop that the message showed, and no later stop. */
async function lift({ guard }: PressesParts, { action, value }: PressEvent, caller: string): Promise<EventAnswer> {
  const [, askedAt, name = ''] = /^(\d{1,15}):(.+)$/.exec(value) ?? []
  if (askedAt === undefined) return replyWith('This button is not readable. Please use the dashboard.')
  const by = { caller, reason: 'as pressed in Slack', askedAt: Number(askedAt) }
  const result = await (action === 'resume' ? guard.resumePlan(name, by) : guard.unfreeze(name, by))
  if (result.kind === 'problem') return replyWith(result.problem.detail)
  const done = action === 'resume' ? `The plan ${name} is resumed.` : `The budget ${name} is no longer frozen.`
  return { message: doneMessage(done) }
}

async function grant({ guard, clock }: PressesParts, event: PressEvent, caller: string): Promise<EventAnswer> {
  const { value, units, reason } = event
  const { budget, window, when, until } = grantIn(value)
  if (units === undefined || reason === undefined) return replyWith('A grant needs units and a reason.')
  const id = `ent_${digest('slack', event.id)}`
  if (clock.now() >= until && !(await guard.ledger.entry(id)))
    return replyWith(`That ${window} is over, so nothing was granted. Use a newer message, or the page of ${budget}.`)
  const outcome = await guard.ledger.enter({
    id,
    content: event.id,
    type: 'grant',
    units,
    window,
    wholeChain: false,
    reason,
    budget,
    by: caller,
  })
  if (outcome.kind !== 'entered') return replyWith(notEntered(outcome).detail)
  return { message: doneMessage(`${budget} has ${inUnits(units)} more ${when}.`) }
}

const quoteOf = ({ quotes = {} }: CommandEvent, project: string): Units =>
  toUnits(Object.hasOwn(quotes, project) ? (quotes[project] ?? 0) : 0)
