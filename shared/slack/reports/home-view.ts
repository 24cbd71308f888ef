import { count, countOf, type Figures } from '../../guard/sentences.ts'
import type { Trouble } from '../../guard/troubles/table.ts'
import type { Update } from '../../ledger/updates/update.ts'
import { type Block, context, fields, firstLines, type HomeView, header, section, sections } from '../blocks.ts'
import { approvalButtons, doubtButtons } from '../messages/decisions.ts'
import { type Links, linkBlocks, moreAbout } from '../messages/links.ts'
import { troubleBlocks } from '../messages/troubles.ts'
import { bold, boldUnits, budgetName, person, projectOf, whyInDoubt } from '../messages/words.ts'
import { code, date, prose } from '../text.ts'

export interface HomeRow {
  readonly update: Update
  /** `null`: this reader may decide. */
  readonly whyNot: string | null
}

/** Each row has two blocks, and Slack allows 100 blocks. */
const maxRows = 40

export function homeView({
  troubles,
  account,
  leftAtReset,
  atRisk,
  rows,
  notice,
  zone,
  ...links
}: Links & {
  readonly troubles: readonly Pick<Trouble, 'sentence' | 'remedy'>[]
  readonly account: Figures
  /** `from` is at the recent pace (`null`: too little history), `to` with plans only. `isAtMost`: some prices are not known. */
  readonly leftAtReset: LeftAtReset | null
  /** The greatest risk first. */
  readonly atRisk: readonly { readonly budget: string; readonly sentence: string }[]
  readonly rows: readonly HomeRow[]
  readonly notice: string | null
  readonly zone: string
}): HomeView {
  const units = rows.reduce((sum, { update }) => sum + (update.hold?.units ?? update.estimated ?? 0), 0)
  const left =
    account.limit === 'unlimited'
      ? 'no limit'
      : `${boldUnits(account.available)} of ${count(account.limit + account.granted)}`
  const blocks: Block[] = [
    ...(notice === null ? [] : [section(prose(notice, 2_500))]),
    ...troubleBlocks(troubles),
    fields([
      ['Left', left],
      ['Left at the reset', `${rangeOf(leftAtReset)}\n${date(account.end, zone)}`],
      ['Needs a decision', rows.length === 0 ? 'nothing' : `${countOf(rows.length, 'update')}, ${boldUnits(units)}`],
    ]),
    ...linkBlocks('/', links),
    ...(atRisk.length === 0 ? [] : [header('At risk'), ...sections(firstLines(atRisk.map(riskLine), maxAtRisk))]),
    header('Inbox'),
    ...(rows.length === 0 ? [section('No update needs a decision.')] : []),
    ...rows.slice(0, maxRows).flatMap((row) => rowBlocks(row, zone, links)),
    ...(rows.length > maxRows ? [context(`… and ${rows.length - maxRows} more`)] : []),
  ]
  return { type: 'home', blocks }
}

const maxAtRisk = 10

const riskLine = ({ budget, sentence }: { readonly budget: string; readonly sentence: string }): string =>
  `• ${code(budget)}: ${prose(sentence, 300)}`

interface LeftAtReset {
  readonly from: number | null
  readonly to: number
  readonly isAtMost: boolean
}

function rangeOf(range: LeftAtReset | null): string {
  if (range === null) return 'no limit'
  const { from, to } = range
  const most = range.isAtMost ? 'at most ' : ''
  if (from === null) return `${most}${boldUnits(to)} with plans only; too little history for a pace`
  return `${most}${from === to ? boldUnits(to) : `${bold(count(from))} to ${boldUnits(to)}`}`
}

function rowBlocks({ update, whyNot }: HomeRow, zone: string, links: Links): Block[] {
  const { id, kind, budget, caller, state, reason, hold, estimated, approvableUntil } = update
  const isDoubt = state === 'in-doubt'
  const price = hold?.units ?? estimated
  const what = `${isDoubt ? '❓' : '✋'} ${projectOf(update)} ${kind} · ${price === undefined ? 'no estimate' : boldUnits(price)} of ${budgetName(budget)}`
  const who = `${person(caller)}${reason === undefined ? '' : `: ${prose(reason, 200)}`}`
  const until = !isDoubt && approvableUntil !== undefined ? ` · open until ${date(approvableUntil, zone)}` : ''
  const lines = [what, `${who}${until}`, isDoubt ? whyInDoubt(update) : null]
  const text = section(`${lines.filter(Boolean).join('\n')} · ${moreAbout(id, links)}`)
  if (whyNot !== null) return [text, context(prose(whyNot, 300))]
  return [text, isDoubt ? doubtButtons(update) : approvalButtons(update, { hasModals: true })]
}

export const noHomeView = (sentence: string): HomeView => ({ type: 'home', blocks: [section(prose(sentence))] })
