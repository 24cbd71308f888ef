import { count, countOf, list, percent } from '../../guard/sentences.ts'
import type { AboutOf, NewsKind } from '../../ledger/updates/tasks.ts'
import { type Block, context, firstLines, header, type Message, message, section, sections } from '../blocks.ts'
import { code, date, prose } from '../text.ts'
import { type Links, moreAbout } from './links.ts'
import { quote } from './updates.ts'
import { bar, bold, boldUnits, capital, person, stops } from './words.ts'

export type News<Kind extends NewsKind, Without extends string = never> = Omit<AboutOf<Kind>, 'kind' | Without>
interface InZone {
  readonly zone: string
}

export interface Occurrence {
  readonly plan: string
  readonly time: number
  readonly zone: string
  readonly state: 'done' | 'stopped' | 'missed' | 'paused'
  readonly reason?: string
  readonly counts: Readonly<
    Record<
      | 'settled'
      | 'upToDate'
      | 'refused'
      | 'noPrice'
      | 'released'
      | 'inDoubt'
      | 'awaitingApproval'
      | 'unsent'
      | 'requested',
      number
    >
  >
  readonly unitsCharged: number
  readonly refusals: readonly { readonly project: string; readonly detail: string }[]
}

const refusalsShown = 5
export function occurrenceMessage(occurrence: Occurrence): Message {
  const { plan, time, zone, reason, refusals } = occurrence
  const [sign, outcome] =
    endings[occurrence.state === 'paused' && hasBegun(occurrence) ? 'paused-midway' : occurrence.state]
  const what = `The plan ${code(plan)} of ${date(time, zone)}`
  const lead = `${sign} ${what} ${outcome}.${quote(reason)}`
  const lines = countLines(occurrence)
  const spent = spentBy(occurrence, lines)
  const hidden = Math.max(
    0,
    occurrence.counts.refused + occurrence.counts.noPrice - Math.min(refusals.length, refusalsShown),
  )
  const shown = refusals.slice(0, refusalsShown)
  const refused = [...new Set(shown.map(({ detail }) => detail))].map((detail) => {
    const projects = shown.filter((each) => each.detail === detail).map(({ project }) => code(project))
    return `• ${list(projects)}: ${prose(detail, 300)}`
  })
  const blocks: Block[] = [
    header('Scheduled updates'),
    section(lead),
    ...(lines.length === 0 ? [] : sections(lines)),
    section(spent),
    ...(refused.length === 0
      ? []
      : [
          section('*Why they were refused*'),
          ...sections([...refused, ...(hidden > 0 ? [`… and ${hidden} more`] : [])]),
        ]),
    ...(lines.length === 0 ? [] : [context('`/units updates` lists the latest updates.')]),
  ]
  return message(`${lead}\n${firstLines(lines, 10).join(', ')}${lines.length > 0 ? '. ' : ''}${spent}`, blocks)
}

function spentBy({ state, counts, unitsCharged }: Occurrence, lines: readonly string[]): string {
  if (unitsCharged > 0) return `${boldUnits(unitsCharged)} charged in all.`
  if (counts.inDoubt > 0) return 'Nothing is charged yet.'
  // If the plan is no longer in the file, its projects are unknown.
  return state === 'stopped' && lines.length === 0
    ? '`/units updates` lists the updates that it ran before.'
    : 'Nothing was spent.'
}

const hasBegun = ({ counts: { unsent: _unsent, ...others } }: Occurrence): boolean =>
  Object.values(others).some((number) => number > 0)

const endings = {
  done: ['🗓️', 'is finished'],
  stopped: ['🛑', 'was stopped before its end'],
  missed: ['⌛', 'was not run: it came more than an hour late'],
  paused: ['⏸️', 'was not run: it is paused'],
  'paused-midway': ['⏸️', 'was paused before its end'],
} as const

function countLines({ counts }: Occurrence): string[] {
  const { settled, upToDate, refused, noPrice, released, inDoubt, awaitingApproval, unsent, requested } = counts
  const rows: [number, string][] = [
    [settled, `✅ ${countOf(settled, 'project')} updated`],
    [upToDate, `☑️ ${countOf(upToDate, 'project')} up to date already`],
    [refused, `⛔ ${countOf(refused, 'project')} refused`],
    [noPrice, `🏷️ ${countOf(noPrice, 'project')} without a price`],
    [released, `↩️ ${countOf(released, 'project')} did not run; nothing was spent`],
    [inDoubt, `❓ ${countOf(inDoubt, 'project')} in doubt; the units stay counted`],
    [awaitingApproval, `✋ ${countOf(awaitingApproval, 'project')} waiting for approval`],
    [requested, `⏳ ${countOf(requested, 'project')} to be retried automatically`],
    [unsent, `⏭️ ${countOf(unsent, 'project')} no longer asked for`],
  ]
  return rows.filter(([number]) => number > 0).map(([, line]) => line)
}

export function thresholdMessage({
  budget,
  window,
  used,
  of,
  resetsAt,
  zone,
  isObserved = false,
}: News<'threshold', 'percent'> & InZone & { readonly isObserved?: boolean }): Message {
  const span = window === 'day' ? "today's" : "this month's"
  const left = of - used
  const rest = left > 0 ? `${bold(count(left))} ${left === 1 ? 'is' : 'are'} left` : 'Nothing is left'
  const share = percent(used, of)
  const lead = `${code(budget)} has used ${bold(share)} of ${span} units: ${count(used)} of ${count(of)}.`
  const next = isObserved
    ? 'It is only observed, so its limit refuses nothing.'
    : left > 0
      ? 'Updates that need more are refused until then.'
      : 'Updates are refused until then, unless an administrator grants more.'
  // An observed limit refuses nothing, and the notification must say so, too.
  return message(`${lead} ${rest} until ${date(resetsAt, zone)}.${isObserved ? ` ${next}` : ''}`, [
    header(left > 0 ? `${share} of a budget is used` : 'A budget is used up'),
    section(`${lead}\n${bar(used, of)}  ${rest} until ${date(resetsAt, zone)}. ${next}`),
    context('“Used” includes what is held for running updates and what is in doubt. `/units` shows all budgets.'),
  ])
}

export function willRunOutMessage({
  budget,
  at,
  plan,
  left,
  short,
  isAtLeast,
  resetsAt,
  zone,
}: News<'will-run-out'> & InZone): Message {
  const why = plan === undefined ? 'at its recent pace' : `with the plan ${code(plan)}`
  const [latest, least] = isAtLeast ? [' at the latest,', 'at least '] : ['', '']
  const lead = `${code(budget)} will run out on ${date(at, zone)}${latest} ${why}.`
  const rest = `${bold(count(left))} ${left === 1 ? 'is' : 'are'} left until ${date(resetsAt, zone)}, ${least}${bold(count(short))} short.`
  return message(`${lead} ${rest}`, [
    header('A budget will run out'),
    section(`${lead}\n${rest}`),
    context('This is a forecast, told once a month for each budget. `/units` shows all budgets.'),
  ])
}

export function refusalsMessage({
  caller,
  budget,
  otherBudgets = 0,
  count: number,
  detail,
}: News<'refusals', 'since'>): Message {
  const where = `${code(budget)}${otherBudgets > 0 ? ` and ${countOf(otherBudgets, 'other budget')}` : ''}`
  const lead = `${capital(person(caller))} was refused ${bold(countOf(number, 'time'))} on ${where} within 10 minutes.`
  return message(`${lead} Nothing was spent.`, [
    header('Many refusals'),
    section(`${lead} Nothing was spent. The last refusal:${quote(detail)}`),
    context(
      'This is often a script that repeats what was refused. Further refusals of this kind are not announced for a while.',
    ),
  ])
}

/** @param whyNotYet says why lifting this stop is not enough. `null`: it is enough. */
export function stoppedMessage(
  { what, name, by, reason, isStopped }: News<'stopped'>,
  whyNotYet: string | null = null,
): Message {
  const { sign, stop, lift, undo, stopped, lifted } = stops[what]
  const lead = `${isStopped ? sign : '▶️'} ${actorName(by)} ${isStopped ? stop : lift} the ${what} ${code(name)}.`
  const effect = isStopped ? stopped : (whyNotYet ?? lifted)
  return message(`${lead} ${effect}`, [
    section(`${lead} ${effect}${quote(reason)}`),
    ...(isStopped ? [context(`To end it: ${code(`/units ${undo} ${name} <reason>`, 200)}`)] : []),
  ])
}

export const frozenAboveIt = (budget: string): string =>
  `Nothing can be spent from it yet: ${code(budget)} above it is frozen, too.`
export const notEnabled = 'It does not run yet: the plans file does not enable it.'

const actorName = (by: string): string => (by === 'guard' ? 'Unit Guard' : capital(person(by)))

const maxRows = 15
const maxDates = 5

export function foreignDataMessage({ found, more }: News<'foreign-data'>): Message {
  const all = found.length + more
  const lead = `The vendor has new data for ${bold(countOf(all, 'project'))} from updates outside Unit Guard.`
  const rows = found.map(({ project, dates }) => `• ${code(project)}: ${datesOf(dates)}`)
  return message(lead, [
    header('Updates from elsewhere'),
    section(
      `${lead} A person may have used the vendor’s screen, or a schedule there may have run. If units were spent, book them.`,
    ),
    ...sections(firstLines(rows, maxRows)),
    context(`${code('/units reconcile <units left> <reason>', 200)} books the difference to the vendor’s screen.`),
  ])
}

function datesOf(dates: readonly string[]): string {
  const more = dates.length - maxDates
  return `${dates.slice(-maxDates).join(', ')}${more > 0 ? ` and ${more} before` : ''}`
}

export function givenBackMessage({ units, by, reason }: News<'given-back'>): Message {
  const lead = `${actorName(by)} reconciled the account with the vendor’s figure: ${boldUnits(units)} more can be spent.`
  return message(lead, [header('Units came back'), section(`↩️ ${lead}${quote(reason)}`)])
}

/** If `daysLeft` is negative, the token has expired. */
export function tokenExpiresMessage({ expiresAt, daysLeft, zone }: News<'token-expires'> & InZone): Message {
  const hasEnded = daysLeft < 0
  const when = daysLeft === 0 ? 'in less than a day' : `in ${countOf(daysLeft, 'day')}`
  const lead = hasEnded
    ? `The token of the tracking service ${bold('has ended')}, on ${date(expiresAt, zone)}.`
    : `The token of the tracking service ends ${bold(when)}, on ${date(expiresAt, zone)}.`
  const after = hasEnded ? 'Every update is refused.' : 'After that every update is refused.'
  return message(lead, [
    header(hasEnded ? 'The service’s token has ended' : 'The service’s token ends soon'),
    section(`${lead} ${after} Ask the vendor for a new one and put it into the secret.`),
  ])
}

export function auditFailedMessage({
  books,
  more,
}: {
  readonly books: readonly { readonly window: string; readonly budget: string }[]
  readonly more: number
}): Message {
  const all = books.length + more
  const lead = `The audit found ${bold(countOf(all, 'counter'))} that ${all === 1 ? 'is' : 'are'} not the sum of ${all === 1 ? 'its' : 'their'} lines.`
  const rows = books.map(({ window, budget }) => `• ${code(budget)}: ${code(window)}`)
  return message(lead, [
    header('The ledger does not add up'),
    section(`${lead} Limits may be wrong until an operator has found out why; the runbook says how.`),
    ...sections(firstLines(rows, maxRows)),
    context('The same difference is announced once. `GET /audit` shows both figures of each counter.'),
  ])
}

export function repeatsMessage({ caller, budget, project, count: number }: News<'repeats'>): Message {
  const lead = `${capital(person(caller))} repeated itself ${bold(countOf(number, 'time'))} within ten minutes, the last time for ${code(project)} on ${code(budget)}.`
  return message(`${lead} Nothing was spent on repeats.`, [
    header('A caller repeats itself'),
    section(`${lead} Nothing was spent on repeats.`),
    context(
      'This is often a loop, or a script that sends the same key again to see whether its update has ended. For that there is `GET /updates/{id}`.',
    ),
  ])
}

export function priceJumpedMessage(
  { update, budget, project, units, before }: News<'price-jumped'>,
  links: Links,
): Message {
  const lead = `An update of ${code(project)} needs ${boldUnits(units)}. The one before cost ${count(before)}.`
  return message(lead, [
    header('A price has jumped'),
    section(`${lead} It is charged to ${code(budget)}.`),
    context(moreAbout(update, links)),
  ])
}

/** @param payer a clause that says who pays from now on. */
export function releasedMessage({
  budget,
  otherBudgets,
  projects,
  more,
  by,
  reason,
  payer,
}: News<'released'> & { readonly payer: string }): Message {
  const named = [...projects.map((project) => code(project)), ...(more > 0 ? [`${countOf(more, 'more project')}`] : [])]
  const from = `the budget ${code(budget)}${otherBudgets > 0 ? ` and ${countOf(otherBudgets, 'other budget')}` : ''}`
  const lead = `${capital(person(by))} took ${list(named)} out of ${from}.`
  const effect = `No budget lists ${projects.length + more === 1 ? 'it' : 'them'}, and from now on ${payer}.`
  return message(`${lead} ${effect}`, [section(`${lead} ${effect}${quote(reason)}`)])
}
