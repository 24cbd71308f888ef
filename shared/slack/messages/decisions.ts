import { count, units as inUnits } from '../../guard/sentences.ts'
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
} from '../blocks.ts'
import { code, date, prose } from '../text.ts'
import { quote } from './updates.ts'
import { bold, boldUnits, capital, person, stayCounted, updateOf } from './words.ts'

/** @param owner the owner of the project, if another budget pays. @param until when the approval expires. */
export function approvalMessage({
  update,
  owner,
  until,
  isReminder,
  zone,
}: {
  readonly update: Update
  readonly owner: string | null
  readonly until: number
  readonly isReminder: boolean
  readonly zone: string
}): Message {
  const { id, caller, budget, reason, estimated, history } = update
  const cost = estimated === undefined ? 'an unknown number of units' : boldUnits(estimated)
  const lead = `${capital(person(caller))} asks for a ${updateOf(update)}. It would spend ${cost} of ${code(budget)}${owner === null ? '' : `, for ${code(owner)}`}.`
  const units = estimated === undefined ? 'this update' : inUnits(estimated)
  const blocks: Block[] = [
    header(isReminder ? 'Reminder: an update still waits for approval' : 'An update needs approval'),
    section(lead),
    fields([
      ['Asked for at', date(update.createdAt, zone)],
      ['Open until', date(until, zone)],
    ]),
    section(`*Reason given*\n${reason === undefined ? 'none' : prose(reason)}`),
    section(`*Why it needs approval*${quote(history.at(-1)?.note ?? 'no reason was recorded')}`),
    buttonsWithPrice(
      // Without an estimate the approver agrees to no price.
      estimated ?? toUnits(0),
      button('approve', id, {
        text: 'Approve',
        style: 'primary',
        dialog: {
          title: 'Approve this update?',
          text: `It begins at once and spends ${units}. What is spent cannot be taken back.`,
          confirm: 'Approve',
          deny: 'Not yet',
        },
      }),
      button('reject', id, { text: 'Reject', style: 'danger' }),
    ),
    context(
      `Nothing is spent before somebody approves. Whoever asked cannot approve it themselves. More: \`/units show ${id}\``,
    ),
  ]
  return message(
    `${isReminder ? 'Reminder: ' : ''}${lead} Somebody has to approve it until ${date(until, zone)}.`,
    blocks,
  )
}

/** @param didNotRunFrom the time until which the request may still take effect. */
export function doubtMessage({
  update,
  didNotRunFrom,
  zone,
}: {
  readonly update: Update
  readonly didNotRunFrom: number
  readonly zone: string
}): Message {
  const { id, caller, budget, hold, history } = update
  const held = hold === undefined ? undefined : hold.units
  const lead = `It is not known whether the ${updateOf(update)} ran.`
  const happened = `It was sent to the tracking service for ${person(caller)}, and no clear answer came back:${quote(history.at(-1)?.note ?? 'nobody knows why')}`
  const blocks: Block[] = [
    header('Did this update run?'),
    section(`${lead} ${happened}`),
    section(`${stayCounted(held)} on ${code(budget)} until this is clear. The update is never sent a second time.`),
    section(`${bold('What happens by itself')}\n${evidenceFor(update)}`),
    section(`${bold('What you can do')}\nLook into the tracking service. If you can see whether it ran, say so here:`),
    buttons(
      button('resolve-ran', id, { text: 'It ran', style: 'primary' }),
      button('resolve-did-not-run', id, {
        text: 'It did not run',
        style: 'danger',
        dialog: {
          title: 'Are you certain that it did not run?',
          text: `${held === undefined ? 'The units' : inUnits(held)} are given back to the budget. Only say so if you are certain: if it did run, they can be spent a second time.`,
          confirm: 'It did not run',
          deny: 'I am not certain',
        },
      }),
    ),
    context(
      `“It did not run” can be said from ${date(didNotRunFrom, zone)} on; before that the request may still take effect. More: \`/units show ${id}\``,
    ),
  ]
  const until = leavesTrace(update)
    ? "until somebody says, or the service's data show, whether it did."
    : 'until somebody says whether it did; if nobody does, it counts as run after seven days.'
  return message(`${lead} ${stayCounted(held)} ${until}`, blocks)
}

const leavesTrace = ({ hold }: Update): boolean => hold?.datesBefore !== undefined

const evidenceFor = (update: Update): string =>
  leavesTrace(update)
    ? 'Unit Guard looks at the dates for which the project has data. A new one proves that it ran. Without proof it counts as run after seven days.'
    : 'This update leaves no trace that Unit Guard could look for. If nobody says anything, it counts as run after seven days.'

export function overrunMessage(update: Update): Message {
  const { id, budget, charged = 0, overrun = 0, hold } = update
  const expected = hold?.units ?? charged - overrun
  const lead = `The ${updateOf(update)} cost ${boldUnits(charged)}, which is ${count(overrun)} more than the ${count(expected)} that the tracking service had estimated.`
  return message(lead, [
    header('An update cost more than estimated'),
    section(`⚠️ ${lead}`),
    section(
      `All of it is counted on ${code(budget)}, so there may now be less left than expected, or less than nothing.`,
    ),
    context(`More: \`/units show ${id}\``),
  ])
}

export function correctionMessage(update: Update): Message {
  const { id, budget, charged = 0, history } = update
  const last = history.at(-1)
  const difference = last?.move?.spent ?? 0
  const change =
    difference === 0
      ? 'The number of units was right and stays.'
      : `Counted on ${code(budget)} now: ${boldUnits(Math.abs(difference))} ${difference > 0 ? 'more' : 'less'} than before.`
  const lead = `More is known about the ${updateOf(update)} now: it ${charged > 0 ? `ran and cost ${inUnits(charged)}` : 'did not run'}. ${change}`
  return message(lead, [
    header('A correction'),
    section(`${lead}${quote(last?.note)}`),
    context(`This update was in doubt before. More: \`/units show ${id}\``),
  ])
}
