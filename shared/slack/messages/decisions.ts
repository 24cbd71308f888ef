import { count, countOf, units as inUnits } from '../../guard/sentences.ts'
import type { Update } from '../../ledger/updates/update.ts'
import { toUnits } from '../../platform/words.ts'
import {
  type Block,
  button,
  buttons,
  buttonsWithPrice,
  context,
  fields,
  header,
  type Message,
  message,
  section,
  sections,
} from '../blocks.ts'
import { code, date, prose } from '../text.ts'
import { inboxLink, type Links, moreAbout } from './links.ts'
import { decidedMessage, deciderOf, quote, summaryOf } from './updates.ts'
import {
  bold,
  boldUnits,
  capital,
  mentions,
  person,
  projectOf,
  signText,
  stayCounted,
  tagsText,
  updateOf,
} from './words.ts'

interface ApprovalRow {
  readonly update: Update
  /** The budget that lists the project, if another budget pays. */
  readonly owner: string | null
  readonly approvers?: readonly string[]
  /** Says that no one can approve it. */
  readonly noApprover?: string | null
  /** The reason why the project's name can be mistaken for the name of another project. */
  readonly near?: string | null
}

interface Place extends Links {
  readonly zone: string
}

export function approvalMessage({
  update,
  owner,
  approvers = [],
  noApprover = null,
  near = null,
  isReminder,
  hasModals = false,
  zone,
  ...links
}: ApprovalRow & Place & { readonly isReminder: boolean; readonly hasModals?: boolean }): Message {
  const { id, caller, budget, reason, tags, estimated, history } = update
  const until = update.approvableUntil ?? update.createdAt
  const cost = estimated === undefined ? 'an unknown number of units' : boldUnits(estimated)
  const lead = `${capital(person(caller))} asks for a ${updateOf(update)}. It would spend ${cost} of ${code(budget)}${owner === null ? '' : `, for ${code(owner)}`}.`
  const blocks: Block[] = [
    header(isReminder ? 'Reminder: an update still needs approval' : 'An update needs approval'),
    section(lead),
    fields([
      ['Asked for at', date(update.createdAt, zone)],
      ['Open until', date(until, zone)],
      ...(tags ? [['Tags', tagsText(tags)] as const] : []),
    ]),
    section(`*Reason given*\n${reason === undefined ? 'none' : prose(reason)}`),
    section(`*Why it needs approval*${quote(history.at(-1)?.note ?? 'no reason was recorded')}${refusedReason(near)}`),
    approvalButtons(update, { hasModals }),
    ...mentionBlocks(approvers),
    ...noApproverBlocks([noApprover]),
    context(`Nothing is spent before an approval. The person who asked cannot approve it. ${moreAbout(id, links)}`),
  ]
  return message(`${isReminder ? 'Reminder: ' : ''}${lead} It needs approval by ${date(until, zone)}.`, blocks)
}

export function approvalsMessage({
  rows,
  isReminder,
  zone,
  ...links
}: { readonly rows: readonly ApprovalRow[]; readonly isReminder: boolean } & Place): Message {
  const open = rows.filter(({ update }) => update.state === 'awaiting-approval')
  const [first] = rows
  if (!first) return message('These updates no longer exist.', [section('These updates no longer exist.')])
  const { kind, caller, reason } = first.update
  const units = open.reduce((sum, { update }) => sum + (update.estimated ?? 0), 0)
  const until = Math.min(...open.map(({ update }) => update.approvableUntil ?? update.createdAt))
  const lead = `${capital(person(caller))} asks for ${kind} updates of ${countOf(rows.length, 'project')}.`
  const rest =
    open.length === 0
      ? 'All are decided.'
      : `${count(open.length)} of ${count(rows.length)} need approval by ${date(until, zone)}: ${boldUnits(units)} in all.`
  const blocks: Block[] = [
    header(isReminder ? 'Reminder: updates still need approval' : 'Updates need approval'),
    section(`${lead} ${rest}`),
    section(`*Reason given*\n${reason === undefined ? 'none' : prose(reason)}`),
    ...rows.flatMap((row) => rowBlocks(row, links)),
    ...mentionBlocks([...new Set(open.flatMap(({ approvers = [] }) => approvers))]),
    ...noApproverBlocks(open.map(({ noApprover = null }) => noApprover)),
    context('Nothing is spent before an approval. The person who asked cannot approve it.'),
  ]
  return message(`${isReminder ? 'Reminder: ' : ''}${lead} ${rest}`, blocks)
}

const maxNoteLength = 200

const refusedReason = (near: string | null): string =>
  near === null ? '' : `\n⚠️ It cannot be approved: ${prose(near, maxNearLength)}`

const maxNearLength = 500

function rowBlocks({ update, owner, near = null }: ApprovalRow, links: Links): Block[] {
  const { id, budget, estimated, history, state } = update
  const more = moreAbout(id, links)
  if (state !== 'awaiting-approval') return [section(`${summaryOf(update)} · ${more}`)]
  const cost = estimated === undefined ? 'an unknown number of units' : boldUnits(estimated)
  const payer = `${code(budget)}${owner === null ? '' : `, for ${code(owner)}`}`
  const note = prose(history.at(-1)?.note ?? 'no reason was recorded', maxNoteLength)
  return [
    section(`${projectOf(update)}: ${cost} of ${payer} · ${more}\n> ${note}${refusedReason(near)}`),
    approvalButtons(update, { hasModals: true }),
  ]
}

/** @param hasModals is true only with a bot token. */
export function approvalButtons({ id, estimated }: Update, { hasModals }: { readonly hasModals: boolean }): Block {
  const units = estimated === undefined ? 'this update' : inUnits(estimated)
  return buttonsWithPrice(
    // Without an estimate there is no price to which the approver could agree.
    { units: estimated ?? toUnits(0), of: id },
    button('approve', id, {
      text: 'Approve',
      style: 'primary',
      dialog: {
        title: 'Approve this update?',
        text: `It starts at once and spends ${units}. Spent units cannot be taken back.`,
        confirm: 'Approve',
        deny: 'Cancel',
      },
    }),
    ...(hasModals
      ? [
          button('approve-up-to', id, { text: 'Approve up to…' }),
          button('reject-because', id, { text: 'Reject…', style: 'danger' }),
        ]
      : [button('reject', id, { text: 'Reject', style: 'danger' })]),
  )
}

const maxMentions = 8

const mentionBlocks = (approvers: readonly string[]): Block[] =>
  approvers.length === 0 ? [] : [context(`May approve: ${mentions(approvers, maxMentions)}`)]

const noApproverBlocks = (sentences: readonly (string | null)[]): Block[] =>
  [...new Set(sentences)].flatMap((sentence) =>
    sentence === null ? [] : [context(`⚠️ ${prose(sentence, maxNearLength)}`)],
  )

/** The doubts that share one announcement. */
export interface SignCount {
  readonly sign: string
  /** `2026-11-20` */
  readonly date: string
  /** How many of them are still in doubt. */
  readonly inDoubt: number
  /** There are too many doubts to count all of them. */
  readonly isAtLeast: boolean
}

interface Doubt extends Place {
  readonly update: Update
  /** `null`: the announcement is about this update alone. */
  readonly like?: SignCount | null
}

export function doubtMessage({
  update,
  like = null,
  didNotRunFrom,
  zone,
  ...links
}: Doubt & { readonly didNotRunFrom: number }): Message {
  const { id, caller, budget, hold, history } = update
  const held = hold === undefined ? undefined : hold.units
  const lead = `It is not known whether the ${updateOf(update)} ran.`
  const happened = `It was sent to the tracking service for ${person(caller)}, and no clear answer came back:${quote(history.at(-1)?.note ?? 'the cause is unknown')}`
  const blocks: Block[] = [
    header('Did this update run?'),
    section(`${lead} ${happened}`),
    section(`${stayCounted(held)} on ${code(budget)} until this is decided. The update is never sent a second time.`),
    ...(like === null ? [] : signBlocks(update, like, links)),
    section(`${bold('What happens without you')}\n${evidenceFor(update)}`),
    section(`${bold('What you can do')}\nLook at the tracking service. If you can see whether it ran, answer here:`),
    doubtButtons(update),
    context(
      `You can answer “It did not run” from ${date(didNotRunFrom, zone)}; before that the request may still take effect. ${moreAbout(id, links)}`,
    ),
  ]
  const until = leavesTrace(update)
    ? "until a person or the service's data show whether it did."
    : 'until a person says whether it did; without an answer it counts as run after seven days.'
  const same = like === null || like.inDoubt < 2 ? '' : ` ${likeThis(update, like)}`
  return message(`${lead} ${stayCounted(held)} ${until}${same}`, blocks)
}

/** The update is decided. Others with its sign may still be in doubt. */
export function decidedDoubtMessage({ update, like = null, zone, ...links }: Doubt): Message {
  const decided = decidedMessage({ update, by: deciderOf(update, 'in-doubt'), zone, ...links })
  if (like === null || like.inDoubt === 0) return decided
  const { text, blocks, ...options } = decided
  return message(`${text} ${likeThis(update, like)}`, [...blocks, ...signBlocks(update, like, links)], options)
}

function likeThis({ kind }: Update, { sign, date, inDoubt, isAtLeast }: SignCount): string {
  const number = `${isAtLeast ? 'At least ' : ''}${bold(countOf(inDoubt, `${kind} update`))}`
  return `${number} of ${date} ${inDoubt === 1 ? 'is' : 'are'} in doubt with the sign ${signText(sign)}.`
}

const signBlocks = (update: Update, like: SignCount, links: Links): Block[] => [
  section(
    `${likeThis(update, like)} Decide each in ${inboxLink(links)}. Later ones of that day get no message of their own.`,
  ),
  section(
    `${bold('What such an answer means')}\nIf you know it, ${code('RUN_STARTED')} or ${code('ANSWERS_WELL')} can decide the next ones. ${code('npm run doctor')} shows what to set.`,
  ),
]

export function doubtButtons({ id, hold }: Update): Block {
  const held = hold === undefined ? 'The units' : inUnits(hold.units)
  return buttons(
    button('resolve-ran', id, { text: 'It ran', style: 'primary' }),
    button('resolve-did-not-run', id, {
      text: 'It did not run',
      style: 'danger',
      dialog: {
        title: 'Are you certain that it did not run?',
        text: `${held} go back to the budget. If the update did run, they can be spent a second time.`,
        confirm: 'It did not run',
        deny: 'Cancel',
      },
    }),
  )
}

const leavesTrace = ({ hold }: Update): boolean => hold?.datesBefore !== undefined

const evidenceFor = (update: Update): string =>
  leavesTrace(update)
    ? 'Unit Guard checks the dates for which the project has data. A new date proves that it ran. Without proof it counts as run after seven days.'
    : 'This update leaves no trace that Unit Guard could check. Without an answer it counts as run after seven days.'

export function overrunMessage(update: Update, links: Links = {}): Message {
  const { id, budget, charged = 0, overrun = 0, hold } = update
  const expected = hold?.units ?? charged - overrun
  const lead = `The ${updateOf(update)} cost ${boldUnits(charged)}, ${count(overrun)} more than the ${count(expected)} that the tracking service had estimated.`
  return message(lead, [
    header('An update cost more than estimated'),
    section(`⚠️ ${lead}`),
    section(`All of it counts on ${code(budget)}, so less than expected may be left, even less than zero.`),
    context(moreAbout(id, links)),
  ])
}

export function correctionMessage(update: Update, links: Links = {}): Message {
  const { id, budget, charged = 0, history } = update
  const last = history.at(-1)
  const difference = last?.move?.spent ?? 0
  const change =
    difference === 0
      ? 'The number of units was right and stays.'
      : `${code(budget)} now counts ${boldUnits(Math.abs(difference))} ${difference > 0 ? 'more' : 'less'} than before.`
  const lead = `The ${updateOf(update)} was in doubt and is now known: it ${charged > 0 ? `ran and cost ${inUnits(charged)}` : 'did not run'}. ${change}`
  return message(lead, [
    header('A correction'),
    ...sections([`${lead}${quote(last?.note)}`]),
    context(moreAbout(id, links)),
  ])
}
