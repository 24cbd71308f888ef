import { count, countOf, type Figures, units as inUnits, keptIn, left, percent } from '../../guard/sentences.ts'
import type { Trouble } from '../../guard/troubles/table.ts'
import { asNumber } from '../../ledger/definitions/counters.ts'
import { rootBudget } from '../../ledger/definitions/definitions.ts'
import type { Update } from '../../ledger/updates/update.ts'
import type { Digest } from '../../reports/digest.ts'
import {
  type Block,
  context,
  firstLines,
  header,
  type Message,
  message,
  section,
  sections,
  toAsker,
} from '../blocks.ts'
import { type Links, pageOrId } from '../messages/links.ts'
import { troubleBlocks } from '../messages/troubles.ts'
import { summaryOf } from '../messages/updates.ts'
import { bar, bold, boldUnits } from '../messages/words.ts'
import { clean, code, date, prose } from '../text.ts'

export interface BudgetFigures {
  readonly budget: string
  readonly figures: readonly Figures[]
  readonly isFrozen?: boolean
  readonly isObserved?: boolean
  readonly mayCharge?: boolean
  /** Why the budget is at risk. `null`: it is not at risk. */
  readonly sentence?: string | null
}

const noBudgets = 'You may read no budget. Ask an administrator of Unit Guard to list one for you.'
const maxBudgets = 40
/** After this many budgets, each further budget of a group has only one line. */
const maxInFull = 10
const maxBytes = 9_500

interface FiguresInput {
  readonly budgets: readonly BudgetFigures[]
  readonly zone: string
  /** Paragraphs about the budget or project that the reader named. */
  readonly about?: readonly string[]
}

/** `/units` lists first the budgets that the reader may charge, then budgets at risk. */
export function figuresMessage({ budgets: all, zone, about = [] }: FiguresInput): Message {
  if (all.length === 0) return message(noBudgets, sections([noBudgets]), toAsker)
  const groups = [
    ['You may charge', all.filter(({ mayCharge }) => mayCharge).toSorted(riskFirst)],
    ['At risk', all.filter(({ mayCharge, sentence }) => !mayCharge && sentence)],
    ['Other budgets', all.filter(({ mayCharge, sentence }) => !mayCharge && !sentence)],
  ] as const
  const used = groups.filter(([, rows]) => rows.length > 0)
  const budgets = used.flatMap(([, rows]) => rows)
  const lines = used.flatMap(([title, rows]) =>
    rows.map((row, at) => {
      const text = at < maxInFull ? paragraph(row) : `• ${titleOf(row)}`
      return at === 0 && used.length > 1 ? `_${title}_\n${text}` : text
    }),
  )
  const blocks: Block[] = [
    header('Keyword units'),
    ...about.map((text) => section(text)),
    ...sections(firstLines(lines, maxBudgets, maxBytes), '\n\n'),
    ...footnotes(budgets, zone),
  ]
  const lead = budgets.map(({ figures }) => (figures[0] ? left(figures[0]) : '')).filter((each) => each !== '')
  return message(prose(`Keyword units: ${firstLines(lead, 5).join('; ')}`), blocks, toAsker)
}

const riskFirst = (one: BudgetFigures, other: BudgetFigures): number => Number(!one.sentence) - Number(!other.sentence)

function titleOf({ budget, figures }: BudgetFigures): string {
  const month = figures.find(({ window }) => window === 'month')
  return `${bold(prose(budget))}${month ? ` · ${remainder(month)}` : ''}`
}

function paragraph(row: BudgetFigures): string {
  const { figures, isFrozen, isObserved, sentence } = row
  const month = figures.find(({ window }) => window === 'month')
  const day = figures.find(({ window, limit }) => window === 'day' && limit !== 'unlimited')
  const lines = [month && monthLines(month), day && `Today: ${remainder(day)}`]
  const risk = sentence && !isFrozen ? [`⚠️ ${prose(sentence, 300)}`] : []
  const frozen = isFrozen ? ['🧊 Frozen: nothing can be spent until it is unfrozen.'] : []
  const observed = isObserved ? ['👁 Observed: its limits refuse nothing.'] : []
  return [titleOf(row), ...frozen, ...observed, ...risk, ...lines.filter((line) => line !== undefined)].join('\n')
}

const remainder = ({ limit, granted, available, window }: Figures): string =>
  limit === 'unlimited'
    ? `no limit this ${window}`
    : `${count(available)} of ${count(limit + granted)} units left${window === 'day' ? '' : ' this month'}`

function monthLines(month: Figures): string {
  const { limit, granted, available, spent, held, inDoubt } = month
  const keep = keptIn(month)
  const total = asNumber(limit) + granted
  const parts = [
    ...(limit === 'unlimited' ? [] : [`${percent(total - available, total)} used`]),
    `${count(spent)} spent`,
    ...(held > 0 ? [`${count(held)} held`] : []),
    ...(inDoubt > 0 ? [`${count(inDoubt)} in doubt`] : []),
    ...(keep > 0 ? [`${count(keep)} kept for plans`] : []),
  ]
  return `${limit === 'unlimited' ? '' : `${bar(total - available, total)}  `}${parts.join(' · ')}`
}

function footnotes(budgets: readonly BudgetFigures[], zone: string): Block[] {
  const all = budgets.flatMap(({ figures }) => figures)
  const month = all.find(({ window }) => window === 'month')
  const day = all.find(({ window, limit }) => window === 'day' && limit !== 'unlimited')
  const notes = [
    month && `The month ends ${date(month.end, zone)}; then all counters start again.`,
    day && `The day ends ${date(day.end, zone)}.`,
    all.some(({ held }) => held > 0) && '*Held*: set aside for updates that are running.',
    all.some(({ inDoubt }) => inDoubt > 0) &&
      '*In doubt*: sent, and it is not yet known whether it ran, so it stays counted.',
    `An update counts in its own budget and in all above it${budgets.some(({ budget }) => budget === rootBudget) ? ', up to *account*' : ''}.`,
  ]
  return [context(notes.filter((note) => typeof note === 'string').join('\n'))]
}

type DigestRow = Digest['budgets'][number]
type PriceMove = Omit<Digest['priceMoves'][number], 'before' | 'now'> & {
  readonly before: number
  readonly now: number
}

const maxDigestBudgets = 20
const maxRows = 10

interface DigestExtras {
  readonly priceMoves: readonly PriceMove[]
  readonly troubles: readonly Pick<Trouble, 'sentence' | 'remedy'>[]
}

export function digestMessage({
  day,
  zone,
  budgets,
  approvals,
  refused,
  inDoubt,
  priceMoves,
  nothingHappened,
  troubles,
  ...links
}: Omit<Digest, 'priceMoves'> & DigestExtras & Links): Message {
  const title = clean(day)
  if (nothingHappened && troubles.length === 0) {
    const quiet = `${prose(title)}: nothing happened in 24 hours. No update spent units, none was refused, and none is in doubt.`
    return message(quiet, [section(`💤 ${quiet}`)])
  }
  const root = budgets.find(({ month }) => month.budget === 'account') ?? budgets[0]
  const spent =
    root && root.spentToday > 0
      ? `${boldUnits(root.spentToday)}${inBrackets(root.costToday)} spent in 24 hours by ${code(root.budget)} and all below it.`
      : 'No units spent in 24 hours.'
  const counts = [
    ...(approvals.length > 0 ? [`${countOf(approvals.length, 'update')} waiting for approval`] : []),
    ...(refused > 0 ? [`${countOf(refused, 'update')} refused`] : []),
    ...(inDoubt.length > 0 ? [`${count(inDoubt.length)} in doubt`] : []),
  ]
  const rest = counts.length > 0 ? ` ${counts.join(', ')}.` : ''
  // A budget that spent nothing and will last is not news.
  const shown = budgets.filter(
    ({ spentToday, status, wouldHaveRefused }) => spentToday > 0 || status !== 'on-track' || wouldHaveRefused,
  )
  const blocks: Block[] = [
    header(`The last 24 hours: ${title}`),
    ...troubleBlocks(troubles),
    section(`${spent}${rest}`),
    ...listSection('Waiting for approval', approvals.map(approvalLine(zone, links)), 2_000),
    ...sections(
      firstLines(
        shown.map((each) => budgetLines(each)),
        maxDigestBudgets,
        5_000,
      ),
      '\n\n',
    ),
    ...listSection('Still in doubt: did these run?', inDoubt.map(doubtLine(links)), 2_000),
    ...listSection('Prices that changed', priceMoves.map(priceLine), 2_000),
    context('`/units` shows the budgets as they are now. An update counts in its own budget and in all above it.'),
  ]
  return message(`${prose(title)}: ${spent}${rest}`, blocks)
}

const inBrackets = (cost: string | null): string => (cost === null ? '' : ` (${cost})`)

function budgetLines({
  budget,
  spentToday,
  costToday,
  month,
  reason,
  wouldHaveRefused: over,
  ...row
}: DigestRow): string {
  const { limit, granted, available } = month
  const total = asNumber(limit) + granted
  const lines = [
    `${bold(prose(budget))}: ${count(spentToday)}${spentToday > 0 ? inBrackets(costToday) : ''} in 24 hours`,
    limit === 'unlimited'
      ? `${count(month.spent)} this month, without a limit`
      : `${bar(total - available, total)}  ${percent(total - available, total)} of the month used, ${count(available)} of ${count(total)} left`,
    ...(over ? [`👁 Enforcing would have refused ${countOf(over.updates, 'update')} of ${inUnits(over.units)}.`] : []),
    ...(reason === null ? [] : [`⚠️ ${prose(reason, 300)}`]),
    projection(row),
  ]
  return lines.join('\n')
}

function projection({
  projected,
  projectedAtPace,
  isProjectedAtLeast,
}: Pick<DigestRow, 'projected' | 'projectedAtPace' | 'isProjectedAtLeast'>): string {
  const withPlans = `Used at the reset: ${isProjectedAtLeast ? 'at least ' : ''}${count(projected)} with plans only`
  return projectedAtPace === null
    ? `${withPlans}; too little history for a pace.`
    : `${withPlans}, ${count(projectedAtPace)} at the recent pace.`
}

const approvalLine =
  (zone: string, links: Links) =>
  (update: Update): string =>
    `${summaryOf(update)}${update.approvableUntil === undefined ? '' : ` · until ${date(update.approvableUntil, zone)}`} · ${pageOrId(update.id, links)}`

const doubtLine =
  (links: Links) =>
  (update: Update): string =>
    `${summaryOf(update)} · ${pageOrId(update.id, links)}`

const priceLine = ({ project, kind, before, now }: PriceMove): string =>
  `• ${code(project)} ${kind}: ${count(before)} → ${count(now)} units${change(before, now)}`

function change(before: number, now: number): string {
  if (before <= 0) return ''
  const share = percent(Math.abs(now - before), before)
  return share.startsWith('<')
    ? ` (${share} ${now > before ? 'more' : 'less'})`
    : ` (${now >= before ? '+' : '−'}${share})`
}

const listSection = (title: string, lines: readonly string[], maxBytes: number): Block[] =>
  lines.length === 0 ? [] : [section(bold(title)), ...sections(firstLines(lines, maxRows, maxBytes))]
