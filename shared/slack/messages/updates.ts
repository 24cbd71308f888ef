import { count } from '../../guard/sentences.ts'
import type { Update } from '../../ledger/update.ts'
import {
  type Block,
  context,
  fields,
  first,
  header,
  type Message,
  message,
  section,
  sections,
  toAsker,
} from '../blocks.ts'
import { code, date, prose } from '../text.ts'
import { became, briefly } from './became.ts'
import { actor, bold, capital, kindName, person, states } from './words.ts'

/** Two blocks each, and Slack takes 50. */
const mostRows = 15
const mostLines = 15

/** `/units updates`: the latest ones, the newest first. */
export function updatesMessage({ updates, zone }: { updates: readonly Update[]; zone: string }): Message {
  if (updates.length === 0) {
    const none = `There are no updates yet. ${code('/units run ranking <project>')} asks for one.`
    return message(none, [section(none)], toAsker)
  }
  const shown = updates
    .slice(0, mostRows)
    .flatMap((update) => [
      section(briefly(update)),
      context(
        `${date(update.createdAt, zone)} · ${person(update.caller)} · ${code(update.budget)} · ${code(update.id)}`,
      ),
    ])
  const more = updates.length > mostRows ? `These are the latest ${mostRows}. ` : ''
  return message(
    `The latest updates: ${first(updates.map(briefly), 5).join('; ')}`,
    [header('Latest updates'), ...shown, context(`${more}${code('/units show <id>')} tells more about one.`)],
    toAsker,
  )
}

/** `/units show`: who, why, what it cost, and everything that happened. */
export function updateMessage({ update, zone }: { update: Update; zone: string }): Message {
  const { history, reason } = update
  const sentence = became(update, zone)
  const lines = history
    .map((line, position) => {
      const isNews = line.state !== history[position - 1]?.state
      const what = isNews ? states[line.state].event : line.move ? 'corrected' : 'noted'
      const note = line.note === undefined ? '' : `: ${prose(line.note, 300)}`
      return `• ${date(line.at, zone)} ${bold(what)} (${actor(line.by)})${note}`
    })
    .slice(-mostLines)
  const earlier = history.length - lines.length
  const blocks: Block[] = [
    header(`${capital(kindName(update.kind))} update`),
    section(sentence),
    fields([
      ['Project', code(update.project)],
      ['Budget', code(update.budget)],
      ['Asked for by', person(update.caller)],
      ['Asked for at', date(update.createdAt, zone)],
      ['Units estimated', known(update.estimated)],
      ['Units set aside', known(update.hold?.units)],
      ['Units charged', known(update.charged)],
      ...(update.approval ? [['Approved by', person(update.approval.by)] as const] : []),
    ]),
    ...(reason === undefined ? [] : [section(`*Reason*\n${prose(reason)}`)]),
    section('*What happened*'),
    ...sections([...(earlier > 0 ? [`… ${count(earlier)} earlier lines`] : []), ...lines]),
    context(code(update.id)),
  ]
  return message(sentence, blocks, toAsker)
}

const known = (units: number | undefined): string => (units === undefined ? '–' : count(units))
