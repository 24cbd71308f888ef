import type { Update } from '../../ledger/update.ts'
import { context, first, inPlace, type Message, message, section, sections, toAsker } from '../blocks.ts'
import { code, date } from '../text.ts'
import { became, briefly } from './became.ts'
import { actor, boldUnits, counted } from './words.ts'

const mostRows = 20

/**
 * What became of the updates that somebody asked for, at whatever point they are.
 *
 * @param replaces stands where the confirmation was, so that its button cannot be pressed again.
 */
export function outcomeMessage({
  updates,
  zone,
  replaces = false,
}: {
  readonly updates: readonly Update[]
  readonly zone: string
  readonly replaces?: boolean
}): Message {
  const how = replaces ? { ...toAsker, ...inPlace } : toAsker
  const [only] = updates
  if (!only) return message('Nothing was asked for.', [section('Nothing was asked for.')], how)
  if (updates.length === 1) {
    const sentence = became(only, zone)
    return message(sentence, [section(sentence), context(moreAbout(only.id))], how)
  }
  const charged = updates.reduce((sum, update) => sum + (update.charged ?? 0), 0)
  const done = updates.filter(({ state }) => state === 'settled').length
  const lead = `${done} of ${counted(updates.length, 'update')} done, ${boldUnits(charged)} charged.`
  const lines = first(updates.map(briefly), mostRows)
  const hint = `${code('/units show <id>')} tells more about one; \`/units updates\` has the ids.`
  return message(`${lead} ${lines.join('; ')}`, [section(lead), ...sections(lines), context(hint)], how)
}

/** Instead of a message whose button was pressed: what the press led to, and no button to press twice. */
export function pressedMessage({ update, by, zone }: { update: Update; by: string; zone: string }): Message {
  const sentence = became(update, zone)
  const { history } = update
  const at = (history.findLast((line) => line.by === by) ?? history.at(-1))?.at
  const pressed = `Decided by ${actor(by)}${at === undefined ? '' : ` · ${date(at, zone)}`} · ${moreAbout(update.id)}`
  return message(sentence, [section(sentence), context(pressed)], inPlace)
}

const moreAbout = (id: string): string => `More: \`/units show ${id}\``
