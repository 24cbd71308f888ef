import { type Block, context, first, header, type Message, message, section, sections } from '../blocks.ts'
import { code, date, prose } from '../text.ts'
import { quoted } from './updates.ts'
import { boldUnits, counted } from './words.ts'

/** A plan at one scheduled time, once it is over. */
export interface Occurrence {
  readonly plan: string
  /** The scheduled time. */
  readonly time: number
  readonly zone: string
  readonly state: 'done' | 'stopped' | 'missed' | 'paused'
  readonly reason?: string
  readonly counts: {
    readonly settled: number
    readonly upToDate: number
    readonly refused: number
    readonly released: number
    readonly inDoubt: number
    readonly awaitingApproval: number
    readonly unsent: number
    readonly requested: number
  }
  readonly unitsCharged: number
  readonly refusals: readonly { readonly project: string; readonly detail: string }[]
}

const refusalsShown = 5

export function occurrenceMessage(occurrence: Occurrence): Message {
  const { plan, time, zone, reason, refusals } = occurrence
  const state = occurrence.state === 'paused' && hasBegun(occurrence) ? 'paused-midway' : occurrence.state
  const what = `The plan ${code(plan)} of ${date(time, zone)}`
  const lead = `${signs[state]} ${what} ${said[state]}.${quoted(reason)}`
  const lines = lineOfEach(occurrence)
  const spent = spentBy(occurrence, lines)
  const hidden = Math.max(0, occurrence.counts.refused - Math.min(refusals.length, refusalsShown))
  const refused = refusals
    .slice(0, refusalsShown)
    .map(({ project, detail }) => `• ${code(project)}: ${prose(detail, 300)}`)
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
  return message(`${lead}\n${first(lines, 10).join(', ')}${lines.length > 0 ? '. ' : ''}${spent}`, blocks)
}

function spentBy({ state, counts, unitsCharged }: Occurrence, lines: readonly string[]): string {
  if (unitsCharged > 0) return `${boldUnits(unitsCharged)} charged in all.`
  if (counts.inDoubt > 0) return 'Nothing is charged yet.'
  // The projects of a plan that left the file are unknown, and some of them may have been updated.
  return state === 'stopped' && lines.length === 0
    ? 'What it did before is among `/units updates`.'
    : 'Nothing was spent.'
}

/** Some of its projects have had their turn. */
const hasBegun = ({ counts: { unsent: _unsent, ...others } }: Occurrence): boolean =>
  Object.values(others).some((number) => number > 0)

const signs = { done: '🗓️', stopped: '🛑', missed: '⌛', paused: '⏸️', 'paused-midway': '⏸️' } as const

const said = {
  done: 'is through',
  stopped: 'was stopped before its end',
  missed: 'was not run: it came more than an hour late',
  paused: 'was not run: it is paused',
  'paused-midway': 'was paused before its end',
} as const

function lineOfEach({ counts }: Occurrence): string[] {
  const { settled, upToDate, refused, released, inDoubt, awaitingApproval, unsent, requested } = counts
  const rows: [number, string][] = [
    [settled, `✅ ${counted(settled, 'project')} updated`],
    [upToDate, `☑️ ${counted(upToDate, 'project')} up to date already`],
    [refused, `⛔ ${counted(refused, 'project')} refused`],
    [released, `↩️ ${counted(released, 'project')} did not run; nothing was spent on them`],
    [inDoubt, `❓ ${counted(inDoubt, 'project')} in doubt; their units stay counted`],
    [awaitingApproval, `✋ ${counted(awaitingApproval, 'project')} waiting for approval`],
    [requested, `⏳ ${counted(requested, 'project')} to be tried again by itself`],
    [unsent, `⏭️ ${counted(unsent, 'project')} not asked for any more`],
  ]
  return rows.filter(([number]) => number > 0).map(([, line]) => line)
}
