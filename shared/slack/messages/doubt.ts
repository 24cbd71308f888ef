import { units as inUnits } from '../../guard/sentences.ts'
import type { Update } from '../../ledger/update.ts'
import { type Block, button, buttons, context, header, type Message, message, section } from '../blocks.ts'
import { code, date } from '../text.ts'
import { quoted } from './became.ts'
import { bold, person, stayCounted, updateOf } from './words.ts'

/**
 * It was sent, and nobody knows whether it ran.
 *
 * @param didNotRunFrom from when on a person may say that it did not run: before that it may still take effect.
 */
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
  const happened = `It was sent to the tracking service for ${person(caller)}, and no clear answer came back:${quoted(history.at(-1)?.note ?? 'nobody knows why')}`
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

const leavesTrace = ({ kind, hold }: Update): boolean => kind === 'ranking' && hold?.datesBefore !== undefined

const evidenceFor = (update: Update): string =>
  leavesTrace(update)
    ? 'Unit Guard looks at the dates for which the project has data. A new one proves that it ran. Without proof it counts as run after seven days.'
    : 'This update leaves no trace that Unit Guard could look for. If nobody says anything, it counts as run after seven days.'
