import type { Digest } from '../../guard/reports/digest.ts'
import { count } from '../../guard/sentences.ts'
import { asNumber } from '../../ledger/book/book.ts'
import type { Update } from '../../ledger/updates/update.ts'
import { type Block, context, first, header, type Message, message, section, sections } from '../blocks.ts'
import { clean, code, date, prose } from '../text.ts'
import { briefly } from './updates.ts'
import { bar, bold, boldUnits, counted, percent } from './words.ts'

type DigestRow = Digest['budgets'][number]
/** Prices are only shown, so any numbers will do. */
type PriceMove = Omit<Digest['priceMoves'][number], 'before' | 'now'> & {
  readonly before: number
  readonly now: number
}

const maxBudgets = 20
const maxRows = 10

/** What happened in the 24 hours before it, and how the budgets stand. */
export function digestMessage({
  day,
  zone,
  budgets,
  refused,
  inDoubt,
  priceMoves,
  nothingHappened,
}: Omit<Digest, 'priceMoves'> & { readonly priceMoves: readonly PriceMove[] }): Message {
  const title = clean(day)
  if (nothingHappened) {
    const quiet = `${prose(title)}: nothing happened in 24 hours. No update spent units, none was refused, and none is in doubt.`
    return message(quiet, [section(`💤 ${quiet}`)])
  }
  const root = budgets.find(({ month }) => month.budget === 'account') ?? budgets[0]
  const spent = root
    ? `${boldUnits(root.spentToday)} spent in 24 hours by ${code(root.budget)} and all below it.`
    : 'No units spent.'
  const rest = `${counted(refused, 'update')} refused, ${count(inDoubt.length)} in doubt.`
  const blocks: Block[] = [
    header(`The last 24 hours: ${title}`),
    section(`${spent} ${rest}`),
    ...sections(
      first(
        budgets.map((each) => budgetLines(each, zone)),
        maxBudgets,
        5_000,
      ),
      '\n\n',
    ),
    ...listed('Still in doubt: did these run?', inDoubt.map(doubtLine), 2_000),
    ...listed('Prices that changed', priceMoves.map(priceLine), 2_000),
    context('`/units` shows the budgets as they are now. An update counts in its own budget and in all above it.'),
  ]
  return message(`${prose(title)}: ${spent} ${rest}`, blocks)
}

function budgetLines({ budget, spentToday, month, projected, exhaustedAt }: DigestRow, zone: string): string {
  const { limit, granted, available } = month
  const total = asNumber(limit) + granted
  const lines = [
    `${bold(prose(budget))}: ${count(spentToday)} in 24 hours`,
    limit === 'unlimited'
      ? `${count(month.spent)} this month, without a limit`
      : `${bar(total - available, total)}  ${percent(total - available, total)} of the month used, ${count(available)} of ${count(total)} left`,
    ...(projected === null && exhaustedAt === null ? [] : [outlook(projected, exhaustedAt, zone)]),
  ]
  return lines.join('\n')
}

/** What comes of it if it goes on like this. */
function outlook(projected: number | null, exhaustedAt: number | null, zone: string): string {
  if (exhaustedAt === null) return `At this rate ${count(projected ?? 0)} units will be used by the month's end.`
  const needed = projected === null ? '' : `, and ${count(projected)} would be needed by the month's end`
  return `⚠️ At this rate nothing is left from ${date(exhaustedAt, zone)} on${needed}.`
}

const doubtLine = (update: Update): string => `${briefly(update)} · ${code(update.id)}`

const priceLine = ({ project, kind, before, now }: PriceMove): string =>
  `• ${code(project)} ${kind}: ${count(before)} → ${count(now)} units${change(before, now)}`

const change = (before: number, now: number): string =>
  before > 0 ? ` (${now >= before ? '+' : '−'}${count(Math.round((Math.abs(now - before) / before) * 100))} %)` : ''

const listed = (title: string, lines: readonly string[], maxBytes: number): Block[] =>
  lines.length === 0 ? [] : [section(bold(title)), ...sections(first(lines, maxRows, maxBytes))]
