import {
  count,
  countOf,
  differenceToVendor,
  few,
  units as inUnits,
  list,
  spentSince,
  thisWindow,
  tooNewFor,
  when,
  wouldRefuse,
} from '../../guard/sentences.ts'
import type { Estimate } from '../../guard/update/estimate.ts'
import type { Reconciliation } from '../../ledger/book/figure.ts'
import { rootBudget } from '../../ledger/definitions/definitions.ts'
import type { Tags } from '../../ledger/updates/update.ts'
import type { Kind } from '../../tracking/kinds.ts'
import {
  type Block,
  button,
  buttons,
  context,
  firstLines,
  header,
  type Message,
  message,
  section,
  sections,
  toAsker,
} from '../blocks.ts'
import { code, prose } from '../text.ts'
import { quote } from './updates.ts'
import { bold, boldUnits, capital, tagsText, updateOf } from './words.ts'

export function acceptedMessage({ kind, projects }: { kind: Kind; projects: readonly string[] }): Message {
  const lead = `Asking the tracking service what ${whatOf(kind, projects)} would cost. The answer comes here in a few seconds.`
  return message(lead, [section(`⏳ ${lead}`)], toAsker)
}

/** `/units estimate` */
export function estimateMessage(estimate: Estimate): Message {
  const { kind, units, projects, problem, approval } = estimate
  const lead = `${capital(whatOf(kind, names(projects)))} would cost ${boldUnits(units)}.`
  const observed = problem ? '' : observedIn(estimate)
  const verdict = problem
    ? `⛔ ${whoRefuses(estimate)} would be refused now.${refusalReason(estimate)}`
    : approval === null
      ? `✅ It would pass now.${observed}`
      : `✋ It would need approval by another person.${quote(approval)}${observed}`
  const blocks = [
    section(`${lead}${notInSum(estimate)}`),
    ...costs(projects),
    section(verdict),
    ...(problem ? [] : unitsLeft(estimate, [])),
    context(
      `Nothing was spent by asking.${problem ? '' : ' To run it, write `/units run` instead of `/units estimate`.'}`,
    ),
  ]
  return message(`${lead} ${verdict}`, blocks, toAsker)
}

/** `/units run`. There is no button if the run would be refused. @param askId the value of the button. */
export function confirmMessage({
  askId,
  estimate,
  budgets,
  reason,
  tags,
  approval,
  lacks = 0,
}: {
  readonly askId: string
  readonly estimate: Estimate
  /** The missing units, if an approver could grant them. */
  readonly lacks?: number
  readonly budgets: readonly string[]
  readonly reason?: string
  readonly tags?: Tags
  readonly approval?: string
}): Message {
  const { kind, units, projects, problem } = estimate
  const what = capital(whatOf(kind, names(projects)))
  if (problem) {
    const refusal = `⛔ ${what} would be refused now, so there is nothing to confirm. Nothing was spent.${refusalReason(estimate)}`
    return message(refusal, [section(refusal), ...costs(projects), ...askForMore(askId, lacks)], toAsker)
  }
  const charged = list(
    firstLines(
      budgets.map((budget) => code(budget)),
      maxBudgetsNamed,
    ),
  )
  const lead = `${what} will cost ${boldUnits(units)}, charged to ${charged}.`
  const blocks: Block[] = [
    header('Please confirm'),
    section(
      `${lead}${reason === undefined ? '' : `\nReason: ${prose(reason)}`}${tags ? `\nTags: ${tagsText(tags)}` : ''}`,
    ),
    ...costs(projects),
    ...payersAbove(estimate),
    ...unitsLeft(estimate, budgets),
    ...(estimate.wouldHaveRefused.length > 0 ? [section(observedIn(estimate).trim())] : []),
    ...(approval === undefined
      ? []
      : [section(`✋ After that it needs approval by another person.${quote(approval)}`)]),
    buttons(button('confirm', askId, { text: `Confirm: spend ${inUnits(units)}`, style: 'primary' })),
    context('Nothing is spent before you press Confirm. If you do not want it, do nothing.'),
  ]
  return message(`${lead} Nothing is spent before you press Confirm.`, blocks, toAsker)
}

const askForMore = (askId: string, lacks: number): Block[] =>
  lacks === 0
    ? []
    : [
        buttons(button('ask', askId, { text: `Ask for ${count(lacks)} more` })),
        context(
          'An approver then grants what is missing, once, with this update. If enough is left when you press, it runs at this price without approval.',
        ),
      ]

const observedIn = ({ wouldHaveRefused }: Estimate): string =>
  wouldHaveRefused.length === 0 ? '' : `\n👁 ${prose(capital(wouldRefuse(wouldHaveRefused)))}.`

/** Names the refused projects if there are several projects. */
function whoRefuses({ projects, problem }: Estimate): string {
  const refused = projects.filter((each) => each.problem && each.problem.slug !== 'already-updated')
  if (projects.length === 1 || problem?.slug === 'already-updated') return 'It'
  return refused.length === 0
    ? 'All of it together'
    : list(
        firstLines(
          refused.map(({ project }) => code(project)),
          maxBudgetsNamed,
        ),
      )
}

/** Says which rows are not in the sum, and why. */
function notInSum({ projects, units }: Estimate): string {
  const all = projects.reduce((sum, each) => sum + (each.units ?? 0), 0)
  const done = projects.filter(({ problem }) => problem?.slug === 'already-updated').length
  const unknown = projects.filter((each) => each.units === null).length
  const reasons = [
    ...(all > units && done > 0 ? [`${countOf(done, 'project')} up to date already`] : []),
    ...(unknown > 0 ? [`${countOf(unknown, 'project')} without an estimate`] : []),
  ]
  return projects.length < 2 || reasons.length === 0 ? '' : ` Not in this sum: ${list(reasons)}.`
}

/** With several projects, each reason stands beside the project's price. */
const refusalReason = ({ problem, projects }: Estimate): string =>
  problem && (projects.length === 1 || projects.every((each) => !each.problem)) ? quote(problem.detail) : ''

const maxRows = 20
const maxBudgetsNamed = 5

const names = (projects: Estimate['projects']): string[] => projects.map(({ project }) => project)

const whatOf = (kind: Kind, projects: readonly string[]): string =>
  projects.length === 1
    ? `a ${updateOf({ kind, project: projects[0] ?? '' })}`
    : `${kind} updates of ${countOf(projects.length, 'project')}`

const costs = (projects: Estimate['projects']): Block[] =>
  projects.length < 2
    ? []
    : sections(
        firstLines(
          projects.map(({ project, units, problem }, at) => {
            const said = projects.slice(0, at).find((each) => each.problem?.detail === problem?.detail)
            const same = said && `, refused for the same reason as ${code(said.project)}`
            const why = problem ? (same ?? quote(problem.detail)) : ''
            return `• ${code(project)}: ${units === null ? 'no estimate' : inUnits(units)}${why}`
          }),
          maxRows,
        ),
      )

const payersAbove = ({ projects, payers }: Estimate): Block[] => {
  const above = projects.flatMap(({ project }) => {
    const { budget, owner } = payers[project] ?? { budget: '', owner: null }
    return owner === null || owner === budget
      ? []
      : [`• ${code(project)} belongs to ${code(owner)}, and ${code(budget)} pays`]
  })
  return above.length === 0 ? [] : sections(firstLines(above, maxRows))
}

/** If several budgets pay, the units left afterwards are known only for the root. */
function unitsLeft({ figures, units, projects }: Estimate, budgets: readonly string[]): Block[] {
  const isOneBudget = projects.length === 1 || budgets.length === 1
  const lines = figures
    .filter(({ limit }) => limit !== 'unlimited')
    .map(({ budget, shownAs = budget, window, available }) => {
      const after = isOneBudget || budget === rootBudget ? `, ${count(available - units)} afterwards` : ''
      return `• ${bold(prose(shownAs))} ${thisWindow(window)}: ${inUnits(available)} left now${after}`
    })
  return lines.length === 0 ? [] : sections(firstLines(lines, maxRows))
}

/** What Confirm closes first, what the figure may lack, and what is open in the month before. */
function aboutUpdates({ doubts, young, open, before }: Reconciliation, zone: string): string {
  const closed = doubts.map(({ id, project, units }) => `${code(id)} (${prose(project)}, ${boldUnits(units)})`)
  const isOne = doubts.length === 1
  const first = `Confirm first says that ${isOne ? 'this update' : 'these updates'} in doubt ran: ${few(closed)}. If one did not run, say so with the buttons of its message, and type the command again.`
  const opened = few(open.map((id) => code(id)))
  const lines = [
    doubts.length > 0 ? first : null,
    open.length > 0 ? `Open at that time: ${opened}.` : null,
    tooNewFor({ ...young, ids: young.ids.map((id) => code(id)) }, zone),
    before.ids.length > 0
      ? `Of the month before, and no part of this: ${count(before.held)} held, ${count(before.inDoubt)} in doubt.`
      : null,
  ]
  return lines
    .filter((line) => line !== null)
    .map((line) => `\n${line}`)
    .join('')
}

/** `/units reconcile` @param askId the value of the button. */
export function reconcileMessage({
  askId,
  parts,
  zone,
  reason,
}: {
  readonly askId: string
  readonly parts: Reconciliation
  readonly zone: string
  readonly reason: string
}): Message {
  const { asOf, unitsLeft, since, held, inDoubt, difference, available, after } = parts
  const lead = `The vendor’s figure: ${boldUnits(unitsLeft)} left, ${asOf === null ? 'now' : `as of ${when(asOf, zone)}`}. ${differenceToVendor(parts)}`
  const text =
    difference === 0
      ? 'Confirm: they agree'
      : `Confirm: book ${count(Math.abs(difference))} ${difference > 0 ? 'fewer' : 'more'}`
  return message(
    `${lead} Nothing is booked before you press Confirm.`,
    [
      header('Please confirm'),
      section(`${lead}${reason === '' ? '' : `\nReason: ${prose(reason)}`}`),
      section(
        `The account has ${count(available)} available and would have ${count(after)}. Assumed not to be in the figure: ${count(since)} ${spentSince(parts)}, ${count(held)} held, ${count(inDoubt)} in doubt.${aboutUpdates(parts, zone)}`,
      ),
      buttons(button('confirm', askId, { text, style: 'primary' })),
      context('Nothing is booked before you press Confirm. If you do not want it, do nothing.'),
    ],
    toAsker,
  )
}
