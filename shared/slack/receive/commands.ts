import { isDeepStrictEqual } from 'node:util'
import { logins } from '../../auth/logins.ts'
import type { Guard } from '../../guard/guard.ts'
import { decisions } from '../../guard/people/decisions.ts'
import type { Permissions } from '../../guard/people/permissions.ts'
import { frozenAbove } from '../../ledger/definitions/definitions.ts'
import { scopes as anyScope, assertNever, type Scope } from '../../platform/words.ts'
import type { Mistake } from '../command-words.ts'
import { confirmMessage, estimateMessage } from '../messages/estimate.ts'
import { doneMessage, helpMessage, loginMessage, usageMessage } from '../messages/help.ts'
import { outcomeMessage, updateMessage, updatesMessage } from '../messages/updates.ts'
import type { SlackEvent } from '../slack-events.ts'
import {
  type AnswerParts,
  callerOf,
  type EventAnswer,
  placeOf,
  replyWith,
  updatesNamed,
  whyNotAllowed,
} from '../tell/answer.ts'
import { type Command, parseCommand, type StopChange } from './command.ts'
import { offerReconciliation } from './reconcile.ts'

/** More updates than shown rows, because the repeated refusals of a loop share one row. */
const maxUpdates = 100
const maxShown = 10

const scopesOf: Readonly<Record<Command['do'], readonly Scope[]>> = {
  help: [],
  login: anyScope,
  figures: ['read'],
  estimate: ['read'],
  updates: ['read'],
  show: ['read'],
  run: ['run', 'propose'],
  cancel: decisions.cancel.scopes,
  freeze: ['admin'],
  unfreeze: ['admin'],
  pause: ['admin'],
  resume: ['admin'],
  reconcile: ['admin'],
}

type CommandEvent = SlackEvent & { kind: 'command' }

/** No command spends units; only a button does. */
export interface CommandParts extends AnswerParts {
  /** Answers with figures. */
  readonly reports: {
    figures(parts: AnswerParts, allowed: Permissions, mayAsk: boolean): Promise<EventAnswer>
    /** Reads the name of a mistaken command as the name of a budget, project or person. `null`: nothing has this name. */
    figuresOfName(parts: AnswerParts, caller: string, mistake: Mistake): Promise<EventAnswer | null>
  }
}

export async function runCommand(parts: CommandParts, event: CommandEvent): Promise<EventAnswer> {
  const { kinds, guard } = parts
  const command = parseCommand(event.text, kinds)
  const caller = callerOf(event)
  if (command.do === 'mistake')
    return (await parts.reports.figuresOfName(parts, caller, command)) ?? { message: usageMessage(command) }
  const allowed = await guard.permissions({ caller }, { atOnce: true })
  const scopes = scopesOf[command.do]
  const refusal = scopes.length === 0 ? null : whyNotAllowed(allowed, ...scopes)
  if (refusal !== null) return replyWith(refusal)
  return perform({ ...parts, guard: allowed.guard }, command, event, allowed)
}

async function perform(
  parts: CommandParts,
  command: Command,
  event: CommandEvent,
  allowed: Permissions,
): Promise<EventAnswer> {
  const { kinds, guard } = parts
  const { caller } = allowed
  const { ledger } = guard
  // A repeated command must not undo a later stop.
  const askedAt = event.createdAt
  switch (command.do) {
    case 'help':
      return { message: helpMessage(kinds) }
    case 'figures':
      return parts.reports.figures(parts, allowed, mayAsk(allowed))
    case 'estimate':
      return estimate(parts, command, { caller, via: 'slack' })
    case 'run':
      return offer(parts, command, event, allowed)
    case 'updates': {
      const { rows } = await ledger.updates({}, maxUpdates)
      const { shown, ...place } = await placeOf(parts)
      return { message: updatesMessage({ updates: rows.map(shown), most: maxShown, ...place }) }
    }
    case 'show': {
      const update = await ledger.update(command.id)
      if (!update) return replyWith(`There is no update ${command.id}.`)
      const { shown, ...place } = await placeOf(parts)
      return { message: updateMessage({ update: shown(update), ...place }) }
    }
    case 'cancel': {
      const outcome = await guard.decide('cancel', command.id, allowed)
      if (outcome.kind === 'problem') return replyWith(outcome.problem.detail)
      const { shown, ...place } = await placeOf(parts)
      return { message: outcomeMessage({ updates: [shown(outcome.update)], ...place }) }
    }
    case 'login':
      return login(parts, caller)
    case 'freeze':
    case 'unfreeze':
    case 'pause':
    case 'resume':
      return changeStop(parts, command, { caller, reason: command.reason, askedAt })
    case 'reconcile':
      return offerReconciliation(parts, command, event)
    default:
      return assertNever(command)
  }
}

const mayAsk = ({ scopes }: Permissions): boolean => scopesOf.run.some((scope) => scopes.has(scope))

async function changeStop(
  { guard }: AnswerParts,
  { do: verb, name }: StopChange,
  by: Parameters<Guard['unfreeze']>[1],
): Promise<EventAnswer> {
  const isOfPlan = verb === 'pause' || verb === 'resume'
  const plan = isOfPlan && (await guard.planStatuses()).plans.find((each) => each.plan.name === name)?.plan
  if (plan === undefined) return replyWith(`There is no plan ${name}.`)
  const changes = { freeze: guard.freeze, unfreeze: guard.unfreeze, pause: guard.pausePlan, resume: guard.resumePlan }
  const result = await changes[verb](name, by)
  if (result.kind === 'problem') return replyWith(result.problem.detail)
  const above = verb === 'unfreeze' ? frozenAbove((await guard.ledger.view()).definitions, name) : null
  const but =
    above === null ? '' : `, but ${above} above it is: nothing can be spent from it until that is unfrozen, too`
  const still = plan && !plan.enabled ? ', but it does not run: the plans file does not enable it' : ''
  const done = {
    freeze: `${name} is frozen`,
    unfreeze: `${name} is no longer frozen${but}`,
    pause: `the plan ${name} is paused`,
    resume: `the plan ${name} is no longer paused${still}`,
  }
  return { message: doneMessage(`Done: ${done[verb]}.`) }
}

async function login({ dashboardUrl, clock, guard: { ledger } }: AnswerParts, caller: string): Promise<EventAnswer> {
  if (dashboardUrl === null) {
    return replyWith('The address of the dashboard is not set. Ask an operator of Unit Guard to set DASHBOARD_URL.')
  }
  const code = await ledger.item(logins).issue(caller, clock.now())
  return { message: loginMessage(`${dashboardUrl}/login?code=${code}`), isPrivate: true }
}

async function estimate(
  { guard }: AnswerParts,
  { kind, projects }: Command & { do: 'estimate' },
  asker: Parameters<Guard['estimate']>[1],
): Promise<EventAnswer> {
  const estimateResult = await guard.estimate({ kind, projects }, asker)
  if ('slug' in estimateResult) return replyWith(estimateResult.detail)
  return { message: estimateMessage(estimateResult) }
}

async function offer(
  parts: AnswerParts,
  { kind, projects, budget, reason, tags }: Command & { do: 'run' },
  event: CommandEvent,
  { caller, mayCharge }: Permissions,
): Promise<EventAnswer> {
  const { guard } = parts
  // An earlier answer seemed lost, but it arrived and a user pressed its button.
  if (event.updates) return answerConfirmed(parts, event.updates)
  const request = { kind, projects, ...(budget !== undefined && { budget }) }
  const estimateResult = await guard.estimate(request, { caller, via: 'slack' })
  if ('slug' in estimateResult) return replyWith(estimateResult.detail)
  const other = estimateResult.budgets.find((name) => !mayCharge(name))
  if (other !== undefined) {
    return replyWith(
      `You may not charge the budget ${other}. Ask an administrator of Unit Guard to list it for ${caller}.`,
    )
  }
  const { approval } = estimateResult
  // If nothing is left, the guard refuses without an estimate, but an approver has to know the price.
  const mayAsk = estimateResult.problem?.slug === 'over-budget' && projects.length === 1
  const asked = mayAsk ? await guard.estimate({ ...request, whenShort: 'ask' }, { caller, via: 'slack' }) : null
  const asking = asked && !('slug' in asked) && asked.problem === null && asked.lacks > 0 ? asked : null
  const message = confirmMessage({
    askId: event.id,
    estimate: estimateResult,
    lacks: asking?.lacks ?? 0,
    budgets: estimateResult.budgets,
    ...(reason !== undefined && { reason }),
    ...(tags && { tags }),
    ...(approval !== null && { approval }),
  })
  const quotes = Object.fromEntries(
    (asking ?? estimateResult).projects.flatMap(({ project, units }) =>
      units === null ? [] : [[project, units] as const],
    ),
  )
  // An earlier answer that seemed lost may have arrived, and the price of its button must still hold.
  const { payers } = estimateResult
  if (event.quotes && !isDeepStrictEqual([event.quotes, event.payers ?? payers], [quotes, payers])) {
    return replyWith('The price or the payer has moved while this was being answered. Please type the command again.')
  }
  return { message, ...(event.quotes === undefined && { remember: { quotes, payers } }) }
}

async function answerConfirmed(parts: AnswerParts, ids: readonly string[]): Promise<EventAnswer> {
  const updates = await updatesNamed(parts.guard, ids)
  const { shown, ...place } = await placeOf(parts)
  return { message: outcomeMessage({ updates: updates.map(shown), ...place }) }
}
