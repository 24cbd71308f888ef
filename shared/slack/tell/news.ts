import { occurrences } from '../../guard/plans/stored-occurrence.ts'
import { unownedPayer } from '../../guard/rules/projects.ts'
import { budgetNamed, frozenAbove, isObserved, pauseOf, rootBudget } from '../../ledger/definitions/definitions.ts'
import { isUndelivered } from '../../ledger/updates/delivery.ts'
import type { About, AboutOf, NewsKind } from '../../ledger/updates/tasks.ts'
import type { Update } from '../../ledger/updates/update.ts'
import { productKinds } from '../../tracking/kinds.ts'
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
import { correctionMessage, overrunMessage } from '../messages/decisions.ts'
import { notDeliveredMessage } from '../messages/delivery.ts'
import { budgetPath, planPath, type Remedy } from '../messages/links.ts'
import { unreadFigureMessage } from '../messages/unread-figures.ts'
import { composeApproval } from './approvals.ts'
import { composeDoubt } from './doubts.ts'
import type { Place, Question } from './place.ts'

type Maybe<Value> = Value | Promise<Value>

/** What Slack says of one kind of announcement. */
export interface SlackNews<News> {
  /** `null`: there is nothing to announce any more. */
  message(news: News, place: Place): Maybe<Message | Question | null>
  /** The page about it, which is linked at the end. `null`: the message itself links to its pages. */
  link(news: News): string | null
  /** The budget whose channel gets the message. `undefined`: the usual channel. */
  budget(news: News, place: Place): Maybe<string | undefined>
  /** The button that repairs it. `null`: there is nothing to repair any more. */
  button?(news: News, place: Place): Remedy | null
}

type SlackTable = { readonly [Kind in Exclude<NewsKind, 'outcome'>]: SlackNews<AboutOf<Kind>> } & {
  /** It has no row, because the outcome replaces the answer to its request (`outcome` in `compose.ts`). */
  readonly outcome: null
}

type OfUpdate = { readonly update: string }

const readUpdate = ({ update }: OfUpdate, { guard }: Place): Promise<Update | null> => guard.ledger.update(update)

const inMessage = () => null
const overview = () => '/'
const ofUpdate = async (news: OfUpdate, place: Place) => (await readUpdate(news, place))?.budget
const sayingOfUpdate = (say: (update: Update, place: Place) => Message): SlackNews<OfUpdate> => ({
  async message(news, place) {
    const update = await readUpdate(news, place)
    return update && say(update, place)
  },
  link: inMessage,
  budget: ofUpdate,
})
const ofBudget = ({ budget }: { readonly budget: string }) => budget
const usual = () => undefined

const slackNews: SlackTable = {
  'approval-wanted': {
    message: ({ update }, place) => composeApproval(update, place, { isReminder: false }),
    link: inMessage,
    budget: ofUpdate,
  },
  'approval-reminder': {
    message: ({ update }, place) => composeApproval(update, place, { isReminder: true }),
    link: inMessage,
    budget: ofUpdate,
  },
  'in-doubt': {
    message: ({ update }, place) => composeDoubt(update, place),
    link: inMessage,
    budget: ofUpdate,
  },
  overrun: sayingOfUpdate(overrunMessage),
  correction: sayingOfUpdate(correctionMessage),
  outcome: null,
  occurrence: { message: composeOccurrence, link: () => '/dashboard/plans', budget: usual },
  threshold: {
    message: (news, { view, zone }) =>
      thresholdMessage({ ...news, zone, isObserved: isObserved(view.definitions, news.budget) }),
    link: ({ budget }) => budgetPath(budget),
    budget: ofBudget,
    button: ({ budget, window, resetsAt }) => ({ kind: 'grant-units', name: budget, window, until: resetsAt }),
  },
  'will-run-out': {
    message: (news, { zone }) => willRunOutMessage({ ...news, zone }),
    link: ({ budget }) => budgetPath(budget),
    budget: ofBudget,
    button: ({ budget, resetsAt }) => ({ kind: 'grant-units', name: budget, window: 'month', until: resetsAt }),
  },
  refusals: {
    message: (news, { nameOf }) => refusalsMessage({ ...news, caller: nameOf(news.caller) }),
    link: () => '/dashboard/updates?state=refused',
    budget: ofBudget,
  },
  repeats: {
    message: (news, { nameOf }) => repeatsMessage({ ...news, caller: nameOf(news.caller) }),
    link: ({ caller }) => `/dashboard/updates?${new URLSearchParams({ caller })}`,
    budget: ofBudget,
  },
  'price-jumped': { message: (news, place) => priceJumpedMessage(news, place), link: inMessage, budget: ofUpdate },
  'unread-figure': {
    message(news, { kinds = productKinds, dashboardUrl }) {
      const setting = kinds[news.updateKind].settings.runPointer
      return unreadFigureMessage(news, { dashboardUrl, setting })
    },
    link: inMessage,
    budget: ofUpdate,
  },
  stopped: {
    message: composeStop,
    link: ({ what, name }) => (what === 'budget' ? budgetPath(name) : planPath(name)),
    budget: ({ what, name }) => (what === 'budget' ? name : undefined),
    button: liftStop,
  },
  released: {
    message: (news, { view, nameOf }) =>
      releasedMessage({
        ...news,
        by: nameOf(news.by),
        payer: unownedPayer(view.definitions, news.projects, news.more),
      }),
    link: () => budgetPath(rootBudget),
    budget: ofBudget,
  },
  'not-delivered': {
    async message(news, place) {
      const update = await readUpdate(news, place)
      const { hasBot, dashboardUrl } = place
      if (!update || !isUndelivered(update)) return null
      return notDeliveredMessage(update, { hasModals: hasBot, dashboardUrl })
    },
    link: inMessage,
    budget: ofUpdate,
  },
  'given-back': {
    message: (news, { nameOf }) => givenBackMessage({ ...news, by: nameOf(news.by) }),
    link: () => '/dashboard/activity',
    budget: usual,
  },
  'foreign-data': { message: foreignDataMessage, link: () => budgetPath(rootBudget), budget: usual },
  // No page is about the token.
  'token-expires': {
    message: (news, { zone }) => tokenExpiresMessage({ ...news, zone }),
    link: overview,
    budget: usual,
  },
  'audit-failed': { message: auditFailedMessage, link: () => '/dashboard/activity#audit', budget: usual },
  digest: {
    message: ({ until }, place) => place.digest(until),
    link: overview,
    budget: usual,
  },
}

export const rowOf = ({ kind }: About): SlackNews<About> | null => slackNews[kind]

async function composeOccurrence(
  { occurrence: id }: AboutOf<'occurrence'>,
  { guard, zone }: Place,
): Promise<Message | null> {
  const occurrence = await guard.ledger.queue(occurrences).get(id)
  if (!occurrence || occurrence.state === 'running') return null
  const { counts, unitsCharged, refusals } = await guard.report(occurrence)
  const { plan, time, state, reason } = occurrence
  return occurrenceMessage({
    plan,
    time,
    state,
    unitsCharged,
    zone,
    counts: { ...counts, unsent: counts.unsent + counts.expired },
    // The message of a missed occurrence already gives the reason.
    ...(reason !== undefined && state !== 'missed' && { reason }),
    refusals: refusals.map(({ project, problem }) => ({ project, detail: problem.detail })),
  })
}

type Stop = AboutOf<'stopped'>

async function composeStop(news: Stop, place: Place): Promise<Message> {
  const told = { ...news, by: place.nameOf(news.by) }
  return stoppedMessage(told, news.isStopped ? null : await whyNotYet(news, place))
}

async function whyNotYet({ what, name }: Stop, { guard, view }: Place): Promise<string | null> {
  if (what === 'budget') {
    const above = frozenAbove(view.definitions, name)
    return above === null ? null : frozenAboveIt(above)
  }
  const { plans } = await guard.planStatuses()
  return plans.some(({ plan }) => plan.name === name && plan.enabled) ? null : notEnabled
}

function liftStop({ what, name, isStopped }: Stop, { view: { definitions }, createdAt }: Place): Remedy | null {
  if (!isStopped) return null
  const stop = what === 'budget' ? budgetNamed(definitions, name)?.frozen : pauseOf(definitions, name)
  // If the budget or plan was stopped again later, another message has the button.
  if (!stop || stop.at > createdAt) return null
  return { kind: what === 'budget' ? 'unfreeze' : 'resume', name, at: stop.at }
}
