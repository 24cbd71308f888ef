import type { Item } from '../../../shared/ledger/store/store.ts'
import type { Estimated } from '../ports.ts'
import type { Run, World } from '../world.ts'
import { lookAtAttempts, lookAtSends } from './attempts.ts'
import { lookAtBooks } from './books.ts'
import { lookAtPayer } from './payers.ts'
import {
  asRow,
  broken,
  chargedBySender,
  countersOf,
  definitionsIn,
  type Items,
  isUpdate,
  type Row,
  rowsOf,
} from './stored.ts'
import { lookAtWork } from './works.ts'

/** States without edges are final. */
const edges: Readonly<Record<string, readonly string[]>> = {
  'awaiting-approval': ['requested', 'rejected', 'expired', 'cancelled'],
  requested: ['running', 'refused', 'cancelled', 'expired', 'awaiting-approval'],
  running: ['settled', 'released', 'in-doubt'],
  'in-doubt': ['settled', 'released'],
}
const beginnings = ['awaiting-approval', 'requested', 'refused', 'running']

/**
 * Checks one step, from the world before to the world after, without the ledger's code.
 *
 * @param excused budgets that may be overspent: their limit was lowered, or units were spent outside of the guard.
 * @param clocks how far the clock of each process is ahead of the world's.
 * @throws Broken
 */
export function lookAtStep(
  before: World,
  after: World,
  excused: ReadonlySet<string> = new Set(),
  clocks: Clocks = new Map(),
): void {
  if (after.runs.length > before.runs.length) lookAtRun(before, after.runs[before.runs.length])
  let unitsMayHaveMoved = false
  for (const [name, item] of after.items) {
    const old = before.items.get(name)
    if (old === item) continue
    if (isUpdate(item)) {
      lookAtRecord(old && asRow(old), asRow(item), after)
      lookAtPatience(old && asRow(old), asRow(item), after.now, clocks)
    }
    if (item.sk === 'entry') lookAtEntry(old, item)
    unitsMayHaveMoved ||= isUpdate(item) || item.pk === 'book'
  }
  if (after.items.size < before.items.size) broken('an item is gone')
  if (unitsMayHaveMoved) lookAtBooks(after.items, excused)
}

function lookAtRecord(before: Row | undefined, record: Row, { items, now }: World): void {
  const { id, state, version, approval, caller } = record
  if (approval && state === 'awaiting-approval') broken(`${id} awaits approval, and is approved by ${approval.by}`)
  if (approval && !before?.approval) {
    const { callers = {} } = definitionsIn(items)
    const personOf = (name: string) => callers[name]?.person ?? name
    if (personOf(approval.by) === personOf(caller))
      broken(`${approval.by} has approved ${id}, which ${caller} asked for`)
  }
  if (state === 'running' && before?.state !== 'running') {
    lookAtFence(record, items)
    lookAtWork(record, items, now)
    lookAtSends(record, items)
  }
  lookAtNews(before, record, items)
  if (!before) {
    if (!beginnings.includes(state)) broken(`${id} begins as ${state}`)
    lookAtAttempts(record, items)
    return
  }
  if (state !== before.state && !(edges[before.state] ?? []).includes(state))
    broken(`${id} goes from ${before.state} to ${state}`)
  if (version !== before.version + 1) broken(`${id} goes from version ${before.version} to ${version}`)
  lookAtCorrection(before, record)
}

/** Checks that after an administrator's correction only an administrator changes the charge, and that it leaves a line with the difference. */
function lookAtCorrection(before: Row, { id, charged = 0, chargeCorrected, history }: Row): void {
  if (!chargeCorrected || charged === before.charged) return
  const { by, move } = history.at(-1) ?? {}
  if (by !== chargeCorrected.by) broken(`${by} changes the charge of ${id}, which ${chargeCorrected.by} corrected`)
  if (move?.spent !== charged - (before.charged ?? 0)) broken(`the line of ${id} does not say what changed`)
}

/** Checks that a hold includes the budget and its ancestors, that none is frozen, and that the enforced limits had enough units. */
function lookAtFence(record: Row, items: Items): void {
  const { id, hold, budget, month } = record
  if (!hold) broken(`${id} is running and holds nothing`)
  const { budgets } = definitionsIn(items)
  for (let name: string | null = budget; name !== null; name = budgets[name]?.parent ?? null) {
    if (!hold.budgets.includes(name)) broken(`${id} is not charged to ${name}, though it is to ${budget}`)
    if (budgets[name]?.frozen !== undefined) broken(`${id} holds on ${name}, which is frozen`)
  }
  lookAtPayer(record, items)
  const book = [...items.values()].find(({ pk, sk }) => pk === 'book' && sk === month)
  if (!book) broken(`${id} holds in ${month}, which has no book`)
  if (book.today !== hold.day) broken(`${id} holds on ${hold.day}, and the book counts ${book.today}`)
  for (const [window, name, { a, l }] of countersOf(book)) {
    if (hold.budgets.includes(name) && l !== 'u' && a < 0 && budgets[name]?.enforce !== false)
      broken(`${id} was admitted, though ${window} ${name} was short`)
  }
}

const estimateLastsMs = 30_000

/** Checks that an update is admitted at a price that its process read after the request arrived, at most 30 seconds before. */
export function lookAtPrice(before: World, after: World, estimates: readonly Estimated[]): void {
  for (const [name, item] of after.items) {
    const old = before.items.get(name)
    if (old === item || !isUpdate(item)) continue
    const { id, state, hold, project } = asRow(item)
    if (!hold || state !== 'running' || old?.state === 'running') continue
    const wasTold = estimates.some(
      (each) =>
        isAttemptOf(hold.attempt, each.process) &&
        each.project === project &&
        each.units === hold.units &&
        hold.at - each.at <= estimateLastsMs,
    )
    if (!wasTold) broken(`${id} was admitted at ${hold.units} units, which is not what ${project} costs now`)
  }
}

export type Clocks = ReadonlyMap<string, number>

const serviceTimeoutMs = 20_000
const serviceFlightMs = 300_000

/**
 * Checks that the sweep gives up no sender that may still wait, and that no person resolves a request that may still take effect. Clocks
 * may differ within the flight, which is far longer than a request.
 */
function lookAtPatience(
  before: Row | undefined,
  { id, state, hold, doubt, closedBy }: Row,
  now: number,
  clocks: Clocks,
): void {
  if (!hold || state === before?.state) return
  const heldAt = hold.at - (clocks.get(processOf(hold.attempt)) ?? 0)
  if (state === 'in-doubt' && doubt?.by === 'sweep' && now < heldAt + serviceTimeoutMs)
    broken(`${id} was put in doubt while its sender waited`)
  const silentFrom = doubt?.by === 'sender' ? doubt.at : hold.senderUntil
  const differMs = 2 * Math.max(0, ...[...clocks.values()].map(Math.abs))
  if (state === 'released' && closedBy === 'person' && now + differMs < silentFrom + serviceFlightMs)
    broken(`${id} was released while it could still take effect`)
}

function lookAtNews(before: Row | undefined, { id, state, version, overrun, corrected }: Row, items: Items): void {
  const news = [
    ...(state === 'awaiting-approval' && before?.state !== state ? ['approval-wanted'] : []),
    ...(state === 'in-doubt' && before?.state !== state ? ['in-doubt'] : []),
    ...(overrun !== undefined && overrun !== before?.overrun ? ['overrun'] : []),
    ...(corrected && !before?.corrected ? ['correction'] : []),
  ]
  for (const kind of news) {
    const pk = `announcement#${id}#${kind}#${version}`
    if (![...items.values()].some((item) => item.pk === pk)) broken(`no announcement about ${id}: ${kind}`)
  }
}

function lookAtEntry(before: Item | undefined, entry: Item): void {
  if (before && JSON.stringify(before) !== JSON.stringify(entry)) broken(`the entry ${entry.pk} has changed`)
  const { by, reason } = entry as { by?: unknown; reason?: unknown }
  if (!by || !reason) broken(`the entry ${entry.pk} has no author, or no reason`)
}

/** Checks that a run has its sender's own fence, comes once for each fence, and never beside another run of the same work. */
function lookAtRun({ items, runs }: World, run: Run | undefined): void {
  if (!run) return
  const { process, project } = run
  const running = rowsOf(items).filter((row) => row.project === project && row.state === 'running')
  const own = running.find(({ hold }) => isAttemptOf(hold?.attempt, process))
  if (!own) broken(`${process} runs ${project} without a fence of its own`)
  if (running.filter(({ kind }) => kind === own.kind).length > 1) broken(`${project} runs twice at once`)
  const fences = rowsOf(items).filter((row) => row.project === project && isAttemptOf(row.hold?.attempt, process))
  const before = runs.filter((earlier) => earlier.process === process && earlier.project === project)
  if (before.length >= fences.length) broken(`${own.id} was run again`)
}

const isAttemptOf = (attempt: string | undefined, process: string): boolean =>
  attempt !== undefined && processOf(attempt) === process

const processOf = (attempt: string): string => attempt.slice(0, attempt.lastIndexOf('-'))

/**
 * Checks that all consumption is counted, and that a process that got an answer has recorded it if it could.
 * @param known the items before the day began.
 */
export function lookAtConsumption(
  { items, runs }: World,
  known: Items,
  { strictly = false }: { strictly?: boolean } = {},
): void {
  const rows = rowsOf(items)
  const isOpenFromBefore = new Set(rowsOf(known).flatMap(({ id, state }) => (isOpen(state) ? id : [])))
  for (const row of rows) {
    const { id, state, closedBy, project, hold } = row
    const charged = chargedBySender(row)
    const wasRun = runs.some((run) => run.ran && run.project === project && isAttemptOf(hold?.attempt, run.process))
    if (closedBy === 'evidence' && !wasRun) broken(`${id} is proven to have run, and has not run`)
    if (state !== 'settled' || closedBy !== 'sender') continue
    const run = runs.find((each) => each.project === project && isAttemptOf(hold?.attempt, each.process))
    if (run?.stated !== undefined && charged !== run.stated)
      broken(`${id} cost ${run.stated} and was charged ${charged}`)
  }
  // Compares each project separately, because one project's surplus must not hide another's deficit.
  for (const project of new Set(runs.map((run) => run.project))) {
    const of = (each: { readonly project: string }) => each.project === project
    const consumed = runs.filter((run) => of(run) && run.ran).reduce((sum, { units }) => sum + units, 0)
    const ofRuns = (row: Row) => of(row) && !isOpenFromBefore.has(row.id)
    const counted = countedIn(rows.filter(ofRuns)) - countedIn(rowsOf(known).filter(ofRuns))
    const byWord = rows.some(
      (row) => of(row) && ((row.state === 'released' && row.closedBy === 'person') || isBeforeItsAnswer(row)),
    )
    if (consumed > counted && (strictly || !byWord))
      broken(`${project} consumed ${consumed} units, and ${counted} are counted`)
  }
}

/** An answer after an administrator's correction changes nothing. */
const isBeforeItsAnswer = ({ chargeCorrected, closedBy }: Row): boolean =>
  chargeCorrected !== undefined && closedBy !== 'sender'

const countedIn = (rows: readonly Row[]): number =>
  rows.reduce((sum, row) => sum + (isOpen(row.state) ? (row.hold?.units ?? 0) : chargedBySender(row)), 0)

const isOpen = (state: string): boolean => state === 'running' || state === 'in-doubt'
