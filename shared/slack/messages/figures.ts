import { count, type Figures, left } from '../../guard/sentences.ts'
import { asNumber } from '../../ledger/book/book.ts'
import { type Block, context, first, header, type Message, message, sections, toAsker } from '../blocks.ts'
import { date, prose } from '../text.ts'
import { bar, bold, percent } from './words.ts'

/** One budget with its counters: the month's, and the day's where days are limited. */
export interface BudgetFigures {
  readonly budget: string
  readonly figures: readonly Figures[]
  readonly isFrozen?: boolean
}

const maxBudgets = 40
const maxBytes = 9_500

/** `/units`: what is left of every budget. */
export function figuresMessage({ budgets, zone }: { budgets: readonly BudgetFigures[]; zone: string }): Message {
  if (budgets.length === 0)
    return message('There are no budgets yet.', sections(['There are no budgets yet.']), toAsker)
  const blocks: Block[] = [
    header('Keyword units'),
    ...sections(first(budgets.map(paragraph), maxBudgets, maxBytes), '\n\n'),
    ...footnotes(budgets, zone),
  ]
  const lead = budgets.map(({ figures }) => (figures[0] ? left(figures[0]) : '')).filter((each) => each !== '')
  return message(prose(`Keyword units: ${first(lead, 5).join('; ')}`), blocks, toAsker)
}

function paragraph({ budget, figures, isFrozen }: BudgetFigures): string {
  const month = figures.find(({ window }) => window === 'month')
  const day = figures.find(({ window, limit }) => window === 'day' && limit !== 'unlimited')
  const lines = [month && monthLines(month), day && `Today: ${remainder(day)}`]
  const title = `${bold(prose(budget))}${month ? ` · ${remainder(month)}` : ''}`
  const frozen = isFrozen ? ['🧊 Frozen: nothing can be spent until somebody unfreezes it.'] : []
  return [title, ...frozen, ...lines.filter((line) => line !== undefined)].join('\n')
}

const remainder = ({ limit, granted, available, window }: Figures): string =>
  limit === 'unlimited'
    ? `no limit this ${window}`
    : `${count(available)} of ${count(limit + granted)} units left${window === 'day' ? '' : ' this month'}`

function monthLines(month: Figures): string {
  const { limit, granted, available, spent, held, inDoubt } = month
  const total = asNumber(limit) + granted
  const parts = [
    ...(limit === 'unlimited' ? [] : [`${percent(total - available, total)} used`]),
    `${count(spent)} spent`,
    ...(held > 0 ? [`${count(held)} held`] : []),
    ...(inDoubt > 0 ? [`${count(inDoubt)} in doubt`] : []),
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
      '*In doubt*: sent, and nobody knows yet whether it ran; so it stays counted.',
    'An update counts in its own budget and in all above it, up to *account*.',
  ]
  return [context(notes.filter((note) => typeof note === 'string').join('\n'))]
}
