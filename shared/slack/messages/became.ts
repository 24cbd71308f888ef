import { count, units as inUnits } from '../../guard/sentences.ts'
import type { Update } from '../../ledger/update.ts'
import { code, date, prose } from '../text.ts'
import { boldUnits, kindName, person, states, stayCounted, updateOf } from './words.ts'

/** What became of an update, for somebody who asked for it: one to three sentences, then the reason if there is one. */
export function became(update: Update, zone: string): string {
  const what = `The ${updateOf(update)}`
  return `${signOf(update)} ${sentenceOf(update, what, zone)}`
}

/** The same in a few words, for a list. */
export function briefly(update: Update): string {
  const { kind, project, problem } = update
  const detail = problem && isRefusal(update) ? `: ${prose(problem.detail, shortDetail)}` : ''
  return `${signOf(update)} ${code(project)} ${kindName(kind)} · ${wordsOf(update)}${detail}`
}

const shortDetail = 160

function sentenceOf(update: Update, what: string, zone: string): string {
  const { state, charged = 0, hold, estimated, budget, history } = update
  const last = history.at(-1)
  const units = hold?.units ?? estimated
  switch (state) {
    case 'settled':
      if (update.corrected && charged === 0)
        return `${what} was counted as done, but has turned out not to have run. No units are charged for it.`
      return `${what} is done: ${boldUnits(charged)} charged to ${code(budget)}.${extra(update)}`
    case 'released':
      if (update.corrected && charged > 0)
        return `${what} was counted as not run, but has turned out to have run: ${boldUnits(charged)} charged to ${code(budget)}.`
      return `${what} did not run, and nothing was spent.${saidBy(update)}${why(update)}`
    case 'refused':
      if (update.problem?.slug === 'already-updated')
        return `${what} was done a short while ago, so it was not repeated. Nothing was spent.${why(update)}`
      return `${what} was refused. Nothing was spent.${why(update)}`
    case 'in-doubt':
      return `It is not known whether the ${updateOf(update)} ran: it was sent, and no clear answer came back. ${stayCounted(units)} on ${code(budget)} until that is clear, and it is never sent again. Without proof it counts as run after seven days; a person who knows can say so before.`
    case 'awaiting-approval':
      return `${what} waits for approval by somebody else${until(update, zone)}. Nothing is spent before that.${quoted(last?.note)}`
    case 'requested':
      return `${what} ${approvedBy(update)}will begin in a moment. Nothing has been spent yet.`
    case 'running':
      return `${what} is running. ${units === undefined ? '' : `Set aside for it: ${inUnits(units)}.`}`.trimEnd()
    case 'rejected':
    case 'cancelled':
      return `${what} was ${state} by ${person(last?.by ?? '')}. Nothing was spent.${quoted(last?.note)}`
    case 'expired':
      return `${what} expired before it began. Nothing was spent.${quoted(last?.note)}`
  }
}

const approvedBy = ({ approval }: Update): string => (approval ? `was approved by ${person(approval.by)} and ` : '')

const signOf = (update: Update): string => {
  if (update.state === 'refused' && update.problem?.slug === 'already-updated') return '☑️'
  return update.state === 'released' && (update.charged ?? 0) > 0 ? '⚠️' : states[update.state].sign
}

function wordsOf(update: Update): string {
  const { state, charged = 0, hold, estimated } = update
  if (state === 'settled') return `${inUnits(charged)} charged`
  if (state === 'refused' && update.problem?.slug === 'already-updated') return 'already done'
  if (state === 'released') return charged > 0 ? `ran after all, ${inUnits(charged)} charged` : 'did not run'
  const units = hold?.units ?? estimated
  if (state === 'in-doubt') return `in doubt, ${inUnits(units ?? 0)} stay counted`
  return `${states[state].words}${state === 'awaiting-approval' && units !== undefined ? `, ${inUnits(units)}` : ''}`
}

function extra(update: Update): string {
  const { overrun, closedBy } = update
  const over = overrun === undefined ? '' : ` That is ${count(overrun)} more than expected.`
  if (closedBy === 'evidence') return `${over} It had been in doubt; the service's data show that it ran.`
  if (closedBy === 'time')
    return `${over} It had been in doubt for seven days, and nothing showed whether it ran, so it counts as run.`
  return `${over}${saidBy(update)}`
}

function saidBy({ closedBy, state, history }: Update): string {
  const line = closedBy === 'person' ? history.find((each) => each.state === state) : undefined
  return line ? ` It had been in doubt; ${person(line.by)} said so.${quoted(line.note)}` : ''
}

const isRefusal = ({ state }: Update): boolean => state === 'refused' || state === 'released'

const why = ({ problem }: Update): string => quoted(problem?.detail)

const until = ({ approvableUntil }: Update, zone: string): string =>
  approvableUntil === undefined ? '' : `, open until ${date(approvableUntil, zone)}`

/** On a line of its own, as what somebody said. */
export const quoted = (said: string | undefined): string => (said === undefined ? '' : `\n> ${prose(said)}`)
