import type { Guard } from '../../guard/guard.ts'
import type { GuardOptions } from '../../guard/options.ts'
import { whyNotApprove } from '../../guard/people/decisions.ts'
import { permissionsOf } from '../../guard/people/permissions.ts'
import { occurrences } from '../../guard/plans/stored-occurrence.ts'
import { zoneOf } from '../../guard/sentences.ts'
import { ownerPaidFor, whyNear } from '../../guard/update/projects.ts'
import { unownedPayer } from '../../guard/update/unowned.ts'
import {
  budgetNamed,
  chainOf,
  type Definitions,
  frozenAbove,
  isObserved,
  pauseOf,
} from '../../ledger/book/definitions.ts'
import type { About, Announcement, DecisionNews } from '../../ledger/updates/tasks.ts'
import { isUnderWay, type Update } from '../../ledger/updates/update.ts'
import type { View } from '../../ledger/views/views.ts'
import { assertNever } from '../../platform/words.ts'
import { type Kinds, productKinds } from '../../tracking/kinds.ts'
import type { Message } from '../blocks.ts'
import {
  auditFailedMessage,
  foreignDataMessage,
  frozenAboveIt,
  givenBackMessage,
  notEnabled,
  occurrenceMessage,
  priceJumpedMessage,
  refusalsMessage,
  releasedMessage,
  repeatsMessage,
  stoppedMessage,
  thresholdMessage,
  tokenExpiresMessage,
  willRunOutMessage,
} from '../messages/announcements.ts'
import { approvalMessage, approvalsMessage, correctionMessage, overrunMessage } from '../messages/decisions.ts'
import { digestMessage } from '../messages/figures.ts'
import { pathOf, type Remedy, withEnd } from '../messages/links.ts'
import { unreadFigureMessage } from '../messages/unread-figures.ts'
import { decidedMessage, deciderOf, outcomeMessage } from '../messages/updates.ts'
import { namedIn } from '../messages/words.ts'
import { callerOf, guardFor, placeOf, updatesNamed } from '../receive/answer.ts'
import type { SlackEvent } from '../slack-events.ts'
import { composeDoubt } from './doubts.ts'

export interface Outcome {
  readonly message: Message
  readonly updates: readonly Update[]
}

export interface Composed {
  readonly message: Message
  /** `null`: the usual channel. */
  readonly channel: string | null
  /** The updates about which the message asks for a decision. */
  readonly updates?: readonly string[]
  /** The number of doubts with the same sign, as the message says. */
  readonly doubts?: number
}

export interface ComposerParts {
  guard: Guard
  options: GuardOptions
  kinds?: Kinds
  dashboardUrl?: string | null
}

type Subject = Pick<Announcement, 'about' | 'posted' | 'createdAt'>
type Options = { readonly hasBot: boolean }

/** Composes messages from the current state. `null`: there is nothing to announce any more. */
export const createComposer = (parts: ComposerParts) => ({
  compose: (announcement: Subject, options: Options) => composeWithPlace(parts, announcement, options),
  awaitingWith: (update: Update) => awaitingWith(parts, update),
  outcome: (event: SlackEvent) => outcome(parts, event),
})

export type Composer = ReturnType<typeof createComposer>

async function composeWithPlace(parts: ComposerParts, subject: Subject, options: Options): Promise<Composed | null> {
  const { about } = subject
  const { ledger } = parts.guard
  if (isDecisionNews(about)) return composeDecision(parts, { ...subject, about }, options)
  if (about.kind === 'outcome') return null
  const view = await ledger.view()
  const message = await compose(parts, namedIn(view.definitions, about), view)
  if (!message) return null
  const remedy = options.hasBot ? remedyOf(view, subject) : null
  const linked = 'update' in about ? message : withEnd(message, remedy, pathOf(about), parts)
  if (!options.hasBot) return { message: linked, channel: null }
  const budget = 'update' in about ? (await ledger.update(about.update))?.budget : budgetOf(about)
  return { message: linked, channel: channelOf(view.definitions, budget) }
}

function remedyOf({ definitions }: View, { about, createdAt }: Subject): Remedy | null {
  const mayPress = Object.keys(definitions.callers ?? {}).some(
    (caller) => /^slack:[UW]/.test(caller) && permissionsOf(definitions, { caller }).scopes.has('admin'),
  )
  if (!mayPress) return null
  if (about.kind === 'threshold' || about.kind === 'will-run-out') {
    const window = about.kind === 'threshold' ? about.window : 'month'
    return { kind: 'grant-units', name: about.budget, window, until: about.resetsAt }
  }
  if (about.kind !== 'stopped' || !about.isStopped) return null
  const { what, name } = about
  const stop = what === 'budget' ? budgetNamed(definitions, name)?.frozen : pauseOf(definitions, name)
  // If the budget or plan was stopped again later, another message has the button.
  if (!stop || stop.at > createdAt) return null
  return { kind: what === 'budget' ? 'unfreeze' : 'resume', name, at: stop.at }
}

const isDecisionNews = (about: About): about is DecisionNews =>
  about.kind === 'approval-wanted' || about.kind === 'approval-reminder' || about.kind === 'in-doubt'

function budgetOf(about: About): string | undefined {
  if (about.kind === 'stopped') return about.what === 'budget' ? about.name : undefined
  return 'budget' in about ? about.budget : undefined
}

/** The nearest budget of the chain that names a channel decides. */
function channelOf(definitions: Definitions, budget: string | undefined): string | null {
  if (budget === undefined || !budgetNamed(definitions, budget)) return null
  return chainOf(definitions, budget).find(({ slackChannel }) => slackChannel !== undefined)?.slackChannel ?? null
}

/** After the decision, a posted message is composed again and an unsent message is dropped. */
async function composeDecision(
  parts: ComposerParts,
  { about, posted }: Subject & { readonly about: DecisionNews },
  { hasBot }: Options,
): Promise<Composed | null> {
  const { guard } = parts
  const { ledger } = guard
  const asks = 'awaiting-approval'
  const update = await ledger.update(about.update)
  if (!update) return null
  if (about.kind === 'in-doubt') {
    const composed = await composeDoubt(parts, update, posted !== undefined)
    if (!composed) return null
    const { definitions, ...doubt } = composed
    return { ...doubt, channel: channelOf(definitions, update.budget) }
  }
  if (!posted && update.state !== asks) return null
  const { view, shown: show, ...how } = await placeOf(parts)
  const channel = channelOf(view.definitions, update.budget)
  const updates = posted
    ? await updatesNamed(guard, posted.updates ?? [update.id])
    : [update, ...(hasBot ? await awaitingWith(parts, update) : [])]
  const rows = updates.map((each) => ({
    update: show(each),
    owner: ownerPaidFor(view.definitions, each),
    approvers: hasBot && each.state === asks ? approversInSlack(view, each) : [],
    near: whyNear(view.definitions, each.project),
  }))
  const isReminder = about.kind === 'approval-reminder'
  const [single] = rows
  const message =
    rows.length > 1 || !single
      ? approvalsMessage({ rows, isReminder, ...how })
      : single.update.state === asks
        ? approvalMessage({ ...single, isReminder, hasModals: hasBot, ...how })
        : decidedMessage({ update: single.update, by: deciderOf(single.update, asks), ...how })
  return { message, channel, updates: updates.map(({ id }) => id) }
}

const maxTogether = 15
const maxRead = 200

/** Finds other updates of the same request or occurrence that go to the same channel. */
async function awaitingWith({ guard: { ledger } }: ComposerParts, update: Update): Promise<readonly Update[]> {
  const [press] = update.replyTo ?? []
  if (update.content.count < 2 && press === undefined && update.scheduledAt === undefined) return []
  const { definitions } = await ledger.view()
  const { rows } = await ledger.open('awaiting-approval', maxRead)
  return rows
    .filter(
      (other) =>
        other.id !== update.id &&
        other.caller === update.caller &&
        other.replyTo?.[0] === press &&
        (press !== undefined || isAskedWith(update, other)) &&
        channelOf(definitions, other.budget) === channelOf(definitions, update.budget),
    )
    .slice(0, maxTogether - 1)
}

const isAskedWith = ({ scheduledAt, content, createdAt }: Update, other: Update): boolean =>
  scheduledAt === undefined
    ? other.content.digest === content.digest && other.createdAt === createdAt
    : other.scheduledAt === scheduledAt

const approversInSlack = (view: View, update: Update): string[] =>
  Object.keys(view.definitions.callers ?? {}).filter(
    (caller) =>
      /^slack:[UW]/.test(caller) &&
      permissionsOf(view.definitions, { caller }).scopes.has('approve') &&
      whyNotApprove(update, view, { caller }) === null,
  )

type OtherNews = Exclude<About, { readonly kind: DecisionNews['kind'] | 'outcome' }>

async function compose(parts: ComposerParts, about: OtherNews, view: View): Promise<Message | null> {
  const { guard } = parts
  const { ledger } = guard
  switch (about.kind) {
    case 'overrun':
    case 'correction': {
      const update = await ledger.update(about.update)
      if (!update) return null
      return about.kind === 'overrun' ? overrunMessage(update, parts) : correctionMessage(update, parts)
    }
    case 'occurrence': {
      const occurrence = await ledger.queue(occurrences).get(about.occurrence)
      if (!occurrence || occurrence.state === 'running') return null
      const { counts, unitsCharged, refusals } = await guard.report(occurrence)
      const { plan, time, state, reason } = occurrence
      return occurrenceMessage({
        ...{ plan, time, state, unitsCharged, zone: zoneOf(view) },
        counts: { ...counts, unsent: counts.unsent + counts.expired },
        // The message of a missed occurrence already gives the reason.
        ...(reason !== undefined && state !== 'missed' && { reason }),
        refusals: refusals.map(({ project, problem }) => ({ project, detail: problem.detail })),
      })
    }
    case 'threshold':
      return thresholdMessage({
        ...{ ...about, zone: zoneOf(view) },
        isObserved: isObserved(view.definitions, about.budget),
      })
    case 'will-run-out':
      return willRunOutMessage({ ...about, zone: zoneOf(view) })
    case 'refusals':
      return refusalsMessage(about)
    case 'repeats':
      return repeatsMessage(about)
    case 'price-jumped':
      return priceJumpedMessage(about, parts)
    case 'unread-figure': {
      const { kinds = productKinds } = parts
      const setting = kinds[about.updateKind].settings.runPointer
      return unreadFigureMessage(about, { ...parts, setting })
    }
    case 'stopped':
      return stoppedMessage(about, about.isStopped ? null : await whyNotYet(parts, about, view))
    case 'released':
      return releasedMessage({ ...about, payer: unownedPayer(view.definitions, about.projects, about.more) })
    case 'given-back':
      return givenBackMessage(about)
    case 'foreign-data':
      return foreignDataMessage(about)
    case 'token-expires':
      return tokenExpiresMessage({ ...about, zone: zoneOf(view) })
    case 'audit-failed':
      return auditFailedMessage(about)
    case 'digest':
      return digestMessage({ ...(await guard.digest(about.until)), dashboardUrl: parts.dashboardUrl })
    default:
      return assertNever(about)
  }
}

async function whyNotYet(
  { guard }: ComposerParts,
  { what, name }: Extract<About, { kind: 'stopped' }>,
  { definitions }: View,
): Promise<string | null> {
  if (what === 'budget') {
    const above = frozenAbove(definitions, name)
    return above === null ? null : frozenAboveIt(above)
  }
  const { plans } = await guard.planStatuses()
  return plans.some(({ plan }) => plan.name === name && plan.enabled) ? null : notEnabled
}

/** `null` until all updates have ended. Doubts and approvals have announcements of their own. */
async function outcome(whole: ComposerParts, event: SlackEvent): Promise<Outcome | null> {
  const guard = await guardFor(whole.guard, event)
  const parts = { ...whole, guard }
  const updates = await updatesNamed(guard, event.updates)
  const { shown: show, ...how } = await placeOf(parts)
  const shown = updates.map(show)
  const [first] = shown
  if (!first || updates.some(({ state }) => isUnderWay(state))) return null
  const isApproval = event.kind === 'press' && event.action !== 'confirm' && event.action !== 'ask'
  const message = isApproval
    ? // Another person may have approved the update since.
      decidedMessage({ update: first, by: first.approval?.by ?? callerOf(event), ...how })
    : outcomeMessage({ updates: shown, replaces: true, ...how })
  return { message, updates }
}
