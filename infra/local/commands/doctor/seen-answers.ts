import type { GuardSettings } from '../../../../shared/guard/options.ts'
import { namesOfProject } from '../../../../shared/guard/rules/projects.ts'
import { count, countOf } from '../../../../shared/guard/sentences.ts'
import { soughtDates } from '../../../../shared/guard/sweep/sweep.ts'
import type { Definitions } from '../../../../shared/ledger/definitions/definitions.ts'
import type { Ledger } from '../../../../shared/ledger/ledger.ts'
import { all } from '../../../../shared/ledger/store/pages.ts'
import { isKnownToHaveRun, type ServiceAnswer, type Update } from '../../../../shared/ledger/updates/update.ts'
import { dayMs } from '../../../../shared/platform/clock.ts'
import { type Kinds, productKinds } from '../../../../shared/tracking/kinds.ts'
import { shapeOfText } from '../../../../shared/tracking/shape.ts'
import { type Findings, found, joined } from '../findings.ts'
import { type Advice, adviceFor } from './advice.ts'
import { adviceLines } from './answer.ts'
import { type Asked, asItIs, interpret } from './interpret.ts'

const seenForMs = 7 * dayMs
const pageSize = 100
/** A run's data have the date of the run's day or of a day beside it. */
const dataWithinMs = 3 * dayMs
const minWithoutData = 2

interface Seen {
  readonly settings: GuardSettings
  readonly kinds: Kinds
  readonly definitions: Definitions
  readonly now: number
  /** The newest first. */
  readonly updates: readonly Update[]
}

interface Known {
  readonly ledger: Pick<Ledger, 'updates'>
  readonly definitions: Definitions
  readonly now: number
  readonly maxUpdates?: number
}

/** What the service answered in the last seven days: signs of failure, and figures that are not read. */
export async function examineAnswers(
  settings: GuardSettings,
  { ledger, definitions, now, maxUpdates = 1_000 }: Known,
  kinds: Kinds = productKinds,
): Promise<Findings> {
  const filter = { since: now - seenForMs }
  const read = await all((cursor) => ledger.updates(filter, pageSize, cursor), maxUpdates + 1)
  const seen = { settings, kinds, definitions, now, updates: read.slice(0, maxUpdates) }
  const bySign = groupsOf(seen.updates, ({ doubt }) => doubt?.sign ?? null)
  const mostFirst = [...bySign].toSorted(([, a], [, b]) => b.length - a.length)
  const signs = mostFirst.map(([sign, updates]) => describeSign(sign, updates, seen))
  return joined([...signs, describeFigures(seen), cutNote(read.length, maxUpdates)])
}

/** Leaves out rows without a name. */
function groupsOf<Row>(rows: readonly Row[], nameOf: (row: Row) => string | null): ReadonlyMap<string, readonly Row[]> {
  const groups = new Map<string, Row[]>()
  for (const row of rows) {
    const name = nameOf(row)
    if (name === null) continue
    const group = groups.get(name)
    if (group) group.push(row)
    else groups.set(name, [row])
  }
  return groups
}

const cutNote = (many: number, maxUpdates: number): Findings =>
  found(many > maxUpdates ? `of the last seven days, only the newest ${updatesWere(maxUpdates)} looked at` : null)

const updatesWere = (many: number): string => countOf(many, 'update was', 'updates were')

function describeSign(sign: string, updates: readonly Update[], seen: Seen): Findings {
  const head = `${sign}: ${tally(updates, seen)}`
  const last = updates.find((update) => askedOf(update, seen) !== null)
  const asked = last ? askedOf(last, seen) : null
  if (!last?.service || !asked) {
    const why = '  its answers were cut, cached or could not be decoded, so no setting can be tried on them'
    return found([head, why])
  }
  const shape = `  the last answer's shape: ${shapeOfText(last.service.body, asItIs) ?? 'not JSON'}`
  const { reading } = interpret(seen.settings, asked, seen.kinds)
  if (reading.kind !== 'unknown') {
    const now = reading.kind === 'ran' ? 'ran' : 'did not run'
    return found([head, shape, `  with the settings of now, it is read as: ${now}`])
  }
  const mayRefuse = isWithoutData(updates, seen)
  const advice = adviceFor(seen.settings, asked, seen.kinds).filter(
    ({ setting }) => setting !== 'RUN_REFUSED' || mayRefuse,
  )
  const lines = [head, shape, ...adviceLines(advice).map((line) => `  ${line}`)]
  return found(lines, advice.length > 0 ? toDoFor(sign, updates.length) : null)
}

const toDoFor = (sign: string, many: number): string =>
  `say in the settings what ${sign} means: ${countOf(many, 'update has', 'updates have')} been in doubt for it; see "Answers of the last seven days"`

function tally(updates: readonly Update[], seen: Seen): string {
  const withData = updates.filter((update) => gotData(update, seen)).length
  const without = updates.filter((update) => isPastData(update, seen)).length
  const parts = [
    countOf(updates.length, 'update'),
    `${count(withData)} got new data`,
    `${count(without)} had none within three days`,
  ]
  const traceless = updates.filter(({ hold }) => hold?.datesBefore === undefined).length
  if (traceless > 0) parts.push(`of ${count(traceless)} no data can show it`)
  return parts.join(', ')
}

/** Evidence, or a date that a later update of the same work saw. */
function gotData(update: Update, { updates, definitions }: Seen): boolean {
  if (update.closedBy === 'evidence' || isContradicted(update)) return true
  const { id, kind, project, hold } = update
  const sought = soughtDates({ definitions }, update) ?? []
  return updates.some(
    (other) =>
      other.id !== id &&
      other.kind === kind &&
      other.project === project &&
      (other.hold?.at ?? 0) > (hold?.at ?? 0) &&
      other.hold?.datesBefore?.some((date) => sought.includes(date)),
  )
}

/** The sweep found data after a person had said "did not run". */
const isContradicted = ({ closedBy, corrected, history }: Update): boolean =>
  closedBy === 'person' &&
  corrected === true &&
  history.some(({ by, move }) => by === 'sweep' && (move?.spent ?? 0) > 0)

function isPastData(update: Update, seen: Seen): boolean {
  const { hold } = update
  return hold?.datesBefore !== undefined && hold.at + dataWithinMs <= seen.now && !gotData(update, seen)
}

/** Whether the records speak for a refusal: no update got data or is known to have run, and some had time to. */
function isWithoutData(updates: readonly Update[], seen: Seen): boolean {
  if (updates.some((update) => gotData(update, seen))) return false
  // Units settled by the clock prove no run.
  if (updates.some((update) => isKnownToHaveRun(update) && update.closedBy !== 'time')) return false
  return updates.filter((update) => isPastData(update, seen)).length >= minWithoutData
}

/** The stored answer to a run. `null`: it is missing or not whole, or a cache gave it. */
function askedOf({ service, hold, kind, project }: Update, { definitions }: Seen): Asked | null {
  if (!service || !isWhole(service) || !hold) return null
  const headers = service.contentType === null ? {} : { 'content-type': service.contentType }
  const exchange = { kind: 'answered', status: service.status, headers, body: Buffer.from(service.body) } as const
  const names = [project, ...namesOfProject(definitions, project)]
  return { call: 'run', kind, exchange, names, held: hold.units, place: hold.place }
}

const isWhole = ({ truncated, age }: ServiceAnswer): boolean => !truncated && age === undefined

interface Figure {
  readonly kind: string
  readonly source: string
  readonly last: string
  readonly advice: Advice
}

/** Figures in answers to runs that are not what was charged. */
function describeFigures(seen: Seen): Findings {
  const figures = seen.updates.flatMap((update) => figureOf(update, seen) ?? [])
  const byPlace = groupsOf(figures, ({ kind, source }) => `${kind} at ${source}`)
  return found(
    [...byPlace].flatMap(([place, [first, ...others]]) => {
      if (!first) return []
      const answers = countOf(others.length + 1, 'answer also states', 'answers also state')
      const head = `units that are not read: ${answers} units, ${place}; the last: ${first.last}`
      return [head, ...adviceLines([first.advice]).map((line) => `  ${line}`)]
    }),
  )
}

function figureOf(update: Update, seen: Seen): Figure | null {
  const asked = update.closedBy === 'sender' && update.state === 'settled' ? askedOf(update, seen) : null
  if (!asked) return null
  const { call, reading } = interpret(seen.settings, asked, seen.kinds)
  if (call !== 'run' || reading.kind !== 'ran' || !reading.stated) return null
  const [advice] = adviceFor(seen.settings, asked, seen.kinds)
  const { units, source } = reading.stated
  const last = `${count(units)}, of a hold of ${count(asked.held ?? 0)}`
  return advice ? { kind: update.kind, source, last, advice } : null
}
