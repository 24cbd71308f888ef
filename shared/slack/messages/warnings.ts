import { count } from '../../guard/sentences.ts'
import { context, first, header, type Message, message, section, sections } from '../blocks.ts'
import { code, date } from '../text.ts'
import { quoted } from './updates.ts'
import { bar, bold, capital, counted, person } from './words.ts'

/** A budget has used a share of a window that people want to know about. */
export function thresholdMessage({
  budget,
  window,
  percent,
  used,
  of,
  resetsAt,
  zone,
}: {
  readonly budget: string
  readonly window: 'month' | 'day'
  readonly percent: number
  readonly used: number
  readonly of: number
  readonly resetsAt: number
  readonly zone: string
}): Message {
  const span = window === 'day' ? "today's" : "this month's"
  const left = of - used
  const rest = left > 0 ? `${bold(count(left))} are left` : 'Nothing is left'
  const lead = `${code(budget)} has used ${bold(`${percent} %`)} of ${span} units: ${count(used)} of ${count(of)}.`
  const next =
    left > 0
      ? 'Updates that need more are refused until then.'
      : 'Updates are refused until then, unless an administrator grants more.'
  return message(`${lead} ${rest} until ${date(resetsAt, zone)}.`, [
    header(left > 0 ? `${percent} % of a budget is used` : 'A budget is used up'),
    section(`${lead}\n${bar(used, of)}  ${rest} until ${date(resetsAt, zone)}. ${next}`),
    context('“Used” includes what is held for running updates and what is in doubt. `/units` shows all budgets.'),
  ])
}

/** The same caller is refused again and again: said once for many. */
export function refusalsMessage({
  caller,
  budget,
  otherBudgets = 0,
  count: number,
  sinceMinutes,
  detail,
}: {
  readonly caller: string
  readonly budget: string
  readonly otherBudgets?: number
  readonly count: number
  readonly sinceMinutes: number
  readonly detail: string
}): Message {
  const where = `${code(budget)}${otherBudgets > 0 ? ` and ${counted(otherBudgets, 'other budget')}` : ''}`
  const lead = `${capital(person(caller))} was refused ${bold(counted(number, 'time'))} on ${where} within ${counted(sinceMinutes, 'minute')}.`
  return message(`${lead} Nothing was spent.`, [
    header('Many refusals'),
    section(`${lead} Nothing was spent by that. The last one was told:${quoted(detail)}`),
    context(
      'This is often a script that repeats what was refused. Further refusals of this kind are not announced for a while.',
    ),
  ])
}

/** A budget was frozen, or may spend again. */
export function frozenMessage({
  budget,
  frozen,
  frozenAbove = null,
  by,
  reason,
}: {
  readonly budget: string
  readonly frozen: boolean
  /** A budget above it that is. */
  readonly frozenAbove?: string | null
  readonly by: string
  readonly reason: string
}): Message {
  const lead = `${frozen ? '🧊' : '▶️'} ${whoDid(by)} ${frozen ? 'froze' : 'unfroze'} the budget ${code(budget)}.`
  const effect = frozen
    ? 'Nothing can be spent from it, or from budgets below it, until somebody unfreezes it. What is running is not stopped.'
    : frozenAbove === null
      ? 'It may spend again, as far as its limits go.'
      : `Nothing can be spent from it yet: ${code(frozenAbove)} above it is frozen, too.`
  return message(`${lead} ${effect}`, [
    section(`${lead} ${effect}${quoted(reason)}`),
    ...(frozen ? [context(`To end it: ${code(`/units unfreeze ${budget} <reason>`, 200)}`)] : []),
  ])
}

/** A plan was paused, or runs again. */
export function pausedMessage({
  plan,
  paused,
  isEnabled = true,
  by,
  reason,
}: {
  readonly plan: string
  readonly paused: boolean
  /** Of what the plans file does not enable, a pause is not all that holds it. */
  readonly isEnabled?: boolean
  readonly by: string
  readonly reason: string
}): Message {
  const lead = `${paused ? '⏸️' : '▶️'} ${whoDid(by)} ${paused ? 'paused' : 'resumed'} the plan ${code(plan)}.`
  const effect = paused
    ? 'It asks for no updates until somebody resumes it.'
    : isEnabled
      ? 'It runs again at its next scheduled time.'
      : 'It does not run yet: the plans file does not enable it.'
  return message(`${lead} ${effect}`, [
    section(`${lead} ${effect}${quoted(reason)}`),
    ...(paused ? [context(`To end it: ${code(`/units resume ${plan} <reason>`, 200)}`)] : []),
  ])
}

const whoDid = (by: string): string => (by === 'guard' ? 'Unit Guard' : capital(person(by)))

const maxRows = 15
const maxDates = 5

/** Data sets of the service that no update of the guard can have made. */
export function foreignDataMessage({
  found,
  more,
}: {
  readonly found: readonly { readonly project: string; readonly dates: readonly string[] }[]
  readonly more: number
}): Message {
  const all = found.length + more
  const lead = `The vendor has new data for ${bold(counted(all, 'project'))} that Unit Guard did not start.`
  const rows = found.map(({ project, dates }) => `• ${code(project)}: ${datesOf(dates)}`)
  return message(lead, [
    header('Updates from elsewhere'),
    section(`${lead} Somebody may have used the vendor’s screen, or a schedule there. If units were spent, book them.`),
    ...sections(first(rows, maxRows)),
    context(`${code('/units reconcile <units left> <reason>', 200)} squares the figures with the vendor’s screen.`),
  ])
}

function datesOf(dates: readonly string[]): string {
  const more = dates.length - maxDates
  return `${dates.slice(-maxDates).join(', ')}${more > 0 ? ` and ${more} before` : ''}`
}

/** The service's own token ends soon, or has ended: then nothing can be updated any more. */
export function tokenExpiresMessage({
  expiresAt,
  daysLeft,
  zone,
}: {
  readonly expiresAt: number
  /** Below 0: it has ended. */
  readonly daysLeft: number
  readonly zone: string
}): Message {
  const hasEnded = daysLeft < 0
  const when = daysLeft === 0 ? 'in less than a day' : `in ${counted(daysLeft, 'day')}`
  const lead = hasEnded
    ? `The token of the tracking service ${bold('has ended')}, on ${date(expiresAt, zone)}.`
    : `The token of the tracking service ends ${bold(when)}, on ${date(expiresAt, zone)}.`
  const after = hasEnded ? 'Every update is refused.' : 'After that every update is refused.'
  return message(lead, [
    header(hasEnded ? 'The service’s token has ended' : 'The service’s token ends soon'),
    section(`${lead} ${after} Ask the vendor for a new one and put it into the secret.`),
  ])
}
