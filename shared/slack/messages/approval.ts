import { units as inUnits } from '../../guard/sentences.ts'
import type { Update } from '../../ledger/updates/update.ts'
import { toUnits } from '../../platform/words.ts'
import {
  type Block,
  button,
  buttonsShowing,
  context,
  fields,
  header,
  type Message,
  message,
  section,
} from '../blocks.ts'
import { code, date, prose } from '../text.ts'
import { quoted } from './updates.ts'
import { boldUnits, capital, person, updateOf } from './words.ts'

/**
 * Another person has to agree before this update may spend.
 *
 * @param owner the project's, where another budget pays. @param until when it expires. @param isReminder it was
 * announced before, and half of the time has passed.
 */
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
    section(`*Why it needs approval*${quoted(history.at(-1)?.note ?? 'no reason was recorded')}`),
    buttonsShowing(
      // Without an estimate nothing is agreed to: it is asked about again.
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
