import { count, countOf, units as inUnits, lackedInWords } from '../../guard/sentences.ts'
import { stateTexts } from '../../guard/states.ts'
import { foldRefusals, type Repeated } from '../../guard/update/repeating-callers.ts'
import { isKnownToHaveRun, type State, tagEntries, type Update } from '../../ledger/updates/update.ts'
import {
  type Block,
  context,
  fields,
  firstLines,
  header,
  inPlace,
  type Message,
  message,
  section,
  sections,
  toAsker,
} from '../blocks.ts'
import { code, date, prose } from '../text.ts'
import { type Links, moreAbout, moreUpdates, pageOrId } from './links.ts'
import {
  actor,
  bold,
  boldUnits,
  budgetName,
  capital,
  person,
  projectAndId,
  projectOf,
  signText,
  tagsText,
  updateOf,
  whyInDoubt,
} from './words.ts'

/** Each row has two blocks, and Slack allows 50 blocks. */
const maxRows = 15
const maxLines = 15

const timesOf = ({ count: times, since }: Omit<Repeated, 'update'>, zone: string): string =>
  times === 1 ? '' : ` · ${count(times)} times since ${date(since, zone)}`

/** `/units updates` */
export function updatesMessage({
  updates,
  most = maxRows,
  zone,
  ...links
}: { readonly updates: readonly Update[]; readonly most?: number; readonly zone: string } & Links): Message {
  if (updates.length === 0) {
    const none = `There are no updates yet. ${code('/units run ranking <project>')} asks for one.`
    return message(none, [section(none)], toAsker)
  }
  const rows = foldRefusals(updates)
  const shown = rows
    .slice(0, most)
    .flatMap(({ update, ...times }) => [
      section(`${summaryOf(update)}${timesOf(times, zone)}`),
      context(
        `${date(update.createdAt, zone)} · ${person(update.caller)} · ${budgetName(update.budget)} · ${pageOrId(update.id, links)}`,
      ),
    ])
  const more = rows.length > most ? `These are the latest ${most}. ` : ''
  return message(
    `The latest updates: ${firstLines(
      rows.map(({ update, ...times }) => `${summaryOf(update)}${timesOf(times, zone)}`),
      5,
    ).join('; ')}`,
    [
      header('Latest updates'),
      ...shown,
      context(`${more}${moreUpdates(`${code('/units show <id>')} tells more about one.`, links)}`),
    ],
    toAsker,
  )
}

/** `/units show` */
export function updateMessage({
  update,
  zone,
  ...links
}: { readonly update: Update; readonly zone: string } & Links): Message {
  const { history, reason, tags } = update
  const sentence = outcomeOf(update, zone)
  const lines = history
    .map((line, position) => {
      const isNewState = line.state !== history[position - 1]?.state
      const subject = isNewState ? stateTexts[line.state].event : line.move ? 'corrected' : 'noted'
      const note = line.note === undefined ? '' : `: ${prose(line.note, 300)}`
      return `• ${date(line.at, zone)} ${bold(subject)} (${actor(line.by)})${note}`
    })
    .slice(-maxLines)
  const earlier = history.length - lines.length
  const blocks: Block[] = [
    header(`${capital(update.kind)} update`),
    section(sentence),
    fields([
      ['Project', projectAndId(update)],
      ['Budget', budgetName(update.budget)],
      ['Asked for by', person(update.caller)],
      ['Asked for at', date(update.createdAt, zone)],
      ['Units estimated', unitsOrDash(update.estimated)],
      ['Units set aside', unitsOrDash(update.hold?.units)],
      ['Units charged', unitsOrDash(update.charged)],
      ...(update.approval ? [['Approved by', person(update.approval.by)] as const] : []),
      ...(tagEntries(tags).length > 0 ? [['Tags', tagsText(tags ?? {})] as const] : []),
    ]),
    ...(reason === undefined ? [] : [section(`*Reason*\n${prose(reason)}`)]),
    section('*What happened*'),
    ...sections([...(earlier > 0 ? [`… ${count(earlier)} earlier lines`] : []), ...lines]),
    context(pageOrId(update.id, links)),
  ]
  return message(sentence, blocks, toAsker)
}

const unitsOrDash = (units: number | undefined): string => (units === undefined ? '–' : count(units))

const maxOutcomeRows = 20

/** With `replaces`, Slack removes the message with the Confirm button and shows this message there. */
export function outcomeMessage({
  updates,
  zone,
  replaces = false,
  ...links
}: { readonly updates: readonly Update[]; readonly zone: string; readonly replaces?: boolean } & Links): Message {
  const options = replaces ? { ...toAsker, ...inPlace } : toAsker
  const [single] = updates
  if (!single) return message('Nothing was asked for.', [section('Nothing was asked for.')], options)
  if (updates.length === 1) {
    const sentence = outcomeOf(single, zone)
    return message(sentence, [section(sentence), context(moreAbout(single.id, links))], options)
  }
  const charged = updates.reduce((sum, update) => sum + (update.charged ?? 0), 0)
  const done = updates.filter(({ state }) => state === 'settled').length
  const lead = `${done} of ${countOf(updates.length, 'update')} done, ${boldUnits(charged)} charged.`
  const lines = firstLines(updates.map(summaryOf), maxOutcomeRows)
  const hint = `${code('/units show <id>')} tells more about one; \`/units updates\` has the ids.`
  return message(
    `${lead} ${lines.join('; ')}`,
    [section(lead), ...sections(lines), context(moreUpdates(hint, links))],
    options,
  )
}

/** Replaces a message that asked for a decision. */
export function decidedMessage({
  update,
  by,
  zone,
  ...links
}: { readonly update: Update; readonly by: string; readonly zone: string } & Links): Message {
  const sentence = outcomeOf(update, zone)
  const { history } = update
  const at = (history.findLast((line) => line.by === by) ?? history.at(-1))?.at
  const when = at === undefined ? '' : ` · ${date(at, zone)}`
  const decision = `Decided by ${actor(by)}${when} · ${moreAbout(update.id, links)}`
  return message(sentence, [section(sentence), context(decision)], inPlace)
}

/** Names the caller who approved the update, or ended its wait or doubt. */
export function deciderOf(update: Update, asked: 'awaiting-approval' | 'in-doubt'): string {
  const { approval, state, history } = update
  if (asked === 'awaiting-approval' && approval && !unstartedEndStates.includes(state)) return approval.by
  return (history.find((line) => line.state === state) ?? history.at(-1))?.by ?? 'guard'
}

const unstartedEndStates: readonly State[] = ['rejected', 'cancelled', 'expired']

function outcomeOf(update: Update, zone: string): string {
  const subject = `The ${updateOf(update)}`
  return `${signOf(update)} ${sentenceOf(update, subject, zone)}`
}

export function summaryOf(update: Update): string {
  const { kind, problem } = update
  const detail = problem && isRefusal(update) ? `: ${prose(problem.detail, shortDetail)}` : ''
  return `${signOf(update)} ${projectOf(update)} ${kind} · ${shortOutcomeOf(update)}${detail}`
}

const shortDetail = 160

function sentenceOf(update: Update, subject: string, zone: string): string {
  const { state, charged = 0, hold, estimated, budget, history } = update
  const last = history.at(-1)
  const units = hold?.units ?? estimated
  const means = `${subject} ${approvedBy(update)}${stateTexts[state].means}`
  switch (state) {
    case 'settled':
      if (update.corrected && !isKnownToHaveRun(update))
        return `${subject} was counted as done, but has turned out not to have run. No units are charged for it.`
      return `${subject} is done: ${boldUnits(charged)} charged to ${budgetName(budget)}.${explainSettled(update)}${observedIn(update)}`
    case 'released':
      if (update.corrected && isKnownToHaveRun(update))
        return `${subject} was counted as not run, but has turned out to have run: ${boldUnits(charged)} charged to ${budgetName(budget)}.`
      return `${means}${quoteDecision(update)}${quoteProblem(update)}`
    case 'refused':
      if (update.problem?.slug === 'already-updated')
        return `${subject} was done a short while ago, so it was not repeated. Nothing was spent.${quoteProblem(update)}`
      return `${means}${quoteProblem(update)}`
    case 'in-doubt':
      return `${[means, whyInDoubt(update)].filter(Boolean).join(' ')} It counts ${units === undefined ? '' : `${boldUnits(units)} `}on ${budgetName(budget)} until that is clear. Without proof it counts as run after seven days; a person who knows can say so before.`
    case 'awaiting-approval':
      return `${means}${deadlineOf(update, zone)}${quote(last?.note)}`
    case 'requested':
      return means
    case 'running':
      return `${subject} is running. ${units === undefined ? '' : `Set aside for it: ${inUnits(units)}.`}`.trimEnd()
    case 'rejected':
    case 'cancelled':
      return `${subject} was ${state} by ${person(last?.by ?? '')}. Nothing was spent.${quote(last?.note)}`
    case 'expired':
      return `${means}${quote(last?.note)}`
  }
}

const approvedBy = ({ state, approval }: Update): string =>
  state === 'requested' && approval ? `was approved by ${person(approval.by)} and ` : ''

const signOf = (update: Update): string => {
  if (update.state === 'refused' && update.problem?.slug === 'already-updated') return '☑️'
  return update.state === 'released' && (update.charged ?? 0) > 0 ? '⚠️' : stateTexts[update.state].sign
}

function shortOutcomeOf(update: Update): string {
  const { state, charged = 0, hold, estimated, doubt } = update
  if (state === 'settled') return `${inUnits(charged)} charged`
  if (state === 'refused' && update.problem?.slug === 'already-updated') return 'already done'
  if (state === 'released') return charged > 0 ? `ran after all, ${inUnits(charged)} charged` : 'did not run'
  const units = hold?.units ?? estimated
  if (state === 'in-doubt') {
    const sign = doubt?.sign === undefined ? '' : `; its answer has ${signText(doubt.sign)}`
    return `in doubt, ${inUnits(units ?? 0)} stay counted${sign}`
  }
  return `${stateTexts[state].words}${state === 'awaiting-approval' && units !== undefined ? `, ${inUnits(units)}` : ''}`
}

const observedIn = ({ wouldHaveRefused = [] }: Update): string =>
  wouldHaveRefused.length === 0 ? '' : `\n👁 ${prose(capital(lackedInWords(wouldHaveRefused)))}.`

function explainSettled(update: Update): string {
  const { overrun, closedBy } = update
  const over = overrun === undefined ? '' : ` That is ${count(overrun)} more than expected.`
  if (closedBy === 'evidence') return `${over} It had been in doubt; the service's data show that it ran.`
  if (closedBy === 'time')
    return `${over} It had been in doubt for seven days, and nothing showed whether it ran, so it counts as run.`
  return `${over}${quoteDecision(update)}`
}

function quoteDecision({ closedBy, state, history }: Update): string {
  const line = closedBy === 'person' ? history.find((each) => each.state === state) : undefined
  return line ? ` It had been in doubt until ${person(line.by)} decided.${quote(line.note)}` : ''
}

const isRefusal = ({ state }: Update): boolean => state === 'refused' || state === 'released'

const quoteProblem = ({ problem }: Update): string => quote(problem?.detail)

const deadlineOf = ({ approvableUntil }: Update, zone: string): string =>
  approvableUntil === undefined ? '' : ` It can be approved until ${date(approvableUntil, zone)}.`

export const quote = (text: string | undefined): string => (text === undefined ? '' : `\n> ${prose(text)}`)
