import { differencesInWords, shown } from '../../../../shared/guard/people/differences.ts'
import { count, countOf, list, units } from '../../../../shared/guard/sentences.ts'
import { type Entry, fromEntryItem, isOnce } from '../../../../shared/ledger/book/entry.ts'
import type { Definitions, Stop } from '../../../../shared/ledger/definitions/definitions.ts'
import { fromDefinitionsItem } from '../../../../shared/ledger/definitions/definitions-item.ts'
import { differencesOf, isSame } from '../../../../shared/ledger/definitions/difference.ts'
import { DamagedItem } from '../../../../shared/ledger/errors.ts'
import type { Item } from '../../../../shared/ledger/store/store.ts'
import type { Update } from '../../../../shared/ledger/updates/update.ts'
import { fromUpdateItem } from '../../../../shared/ledger/updates/update-keys.ts'
import { toRfc3339 } from '../../../../shared/platform/clock.ts'
import type { ByKind, Differing } from './differing-items.ts'

export const notCompared: readonly string[] = [
  // The definitions, entries and updates say the same.
  'book',
  'work',
  'righted',
  'summary',
  'audit',
  'announcement',
  // They are found or made again.
  'price',
  'sighting',
  'issuer-keys',
  'event-target',
  'sweep',
  'trouble',
  // They are used within an hour.
  'login',
  'rerun',
  'slack-event',
]

export const isCompared = (kind: string): boolean => !notCompared.includes(kind)

/** A kind of items without a row is named as it is. */
export const namesOfKinds: Readonly<Record<string, string>> = {
  'project-change': 'changes of projects through the gateway',
  delivery: 'events that their targets have not taken',
  occurrence: 'runs of plans',
}

/** @param name of the file that may lack something: `from`. */
type InWords = (rows: readonly Differing[], name: string) => readonly string[]

const ownWords: Readonly<Record<string, InWords>> = {
  definitions: (rows) => rows.flatMap(definitionsInWords),
  entry: entriesInWords,
  update: updatesInWords,
}

/** A line for each difference. Updates are counted, because the log has them. */
export function itemsInWords(items: ByKind, name: string): readonly string[] {
  const kinds = new Set([...Object.keys(ownWords), ...items.keys()])
  return [...kinds].flatMap((kind) => {
    const rows = items.get(kind) ?? []
    return ownWords[kind]?.(rows, name) ?? countInWords(namesOfKinds[kind] ?? `items of the kind ${kind}`, rows, name)
  })
}

function countInWords(what: string, rows: readonly Differing[], name: string): string[] {
  const missing = rows.filter(({ from }) => from === null).length
  const extra = rows.filter(({ to }) => to === null).length
  return countsInWords(what, { missing, different: rows.length - missing - extra, [`only in ${name}`]: extra })
}

function countsInWords(what: string, counts: Readonly<Record<string, number>>): string[] {
  const told = Object.entries(counts).filter(([, number]) => number > 0)
  return told.length === 0 ? [] : [`${what}: ${list(told.map(([how, number]) => `${count(number)} ${how}`))}`]
}

/** `null`: this version cannot read the item. */
function read<T>(item: Item | null, from: (item: Item) => T): T | null {
  try {
    return item && from(item)
  } catch (error) {
    if (error instanceof DamagedItem) return null
    throw error
  }
}

function definitionsInWords({ from, to }: Differing): readonly string[] {
  const [before, after] = [read(from, fromDefinitionsItem), read(to, fromDefinitionsItem)]
  if (!before || !after) return ['budgets, callers and plans: they cannot be compared']
  const differences = differencesOf(before, after).filter(({ kind }) => kind !== 'plan')
  return [
    ...differencesInWords(differences, {}, { isFull: true }),
    ...stopsInWords(before, after),
    ...valuesInWords('', withoutTold(before), withoutTold(after)),
  ]
}

function stopsInWords(before: Definitions, after: Definitions): string[] {
  const [from, to] = [stopsIn(before), stopsIn(after)]
  return [...new Set([...from.keys(), ...to.keys()])].flatMap((what) => {
    const stop = to.get(what)
    if (isSame(from.get(what), stop)) return []
    return stop ? `${what} by ${stop.by} at ${toRfc3339(stop.at)}: ${stop.reason}` : `${what}: no longer`
  })
}

function stopsIn({ budgets, pausedPlans = {} }: Definitions): ReadonlyMap<string, Stop> {
  const frozen = Object.values(budgets).flatMap(({ name, frozen: stop }) =>
    stop ? [[`budget ${name}: frozen`, stop] as const] : [],
  )
  return new Map([
    ...frozen,
    ...Object.entries(pausedPlans).map(([plan, stop]) => [`plan ${plan}: paused`, stop] as const),
  ])
}

const withoutTold = ({
  revision: _,
  budgets: _b,
  callers: _c,
  unlisted: _u,
  pausedPlans: _p,
  ...others
}: Definitions) => others

/** A restore changes these. */
const ofOneFile = ['table', 'epoch', 'restored', 'replacedBy'].map((member) => `identity ${member}`)

/** A line for each value that differs, also of members that this version does not know. */
function valuesInWords(name: string, from: unknown, to: unknown): string[] {
  if (isSame(from, to) || ofOneFile.includes(name)) return []
  if (!isMap(from) || !isMap(to)) return [`${name}: ${shown(from)} → ${shown(to)}`]
  const members = new Set([...Object.keys(from), ...Object.keys(to)])
  return [...members].flatMap((member) => valuesInWords(`${name} ${member}`.trim(), from[member], to[member]))
}

const isMap = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function entriesInWords(rows: readonly Differing[], name: string): readonly string[] {
  // Entries of changes are numbered by revision, so two files may have different ones with one id.
  const lacking = rows.flatMap(({ to }) => read(to, fromEntryItem) ?? []).toSorted((a, b) => a.at - b.at)
  const changes = lacking.filter((entry) => !movesUnits(entry))
  return [
    ...lacking.filter(movesUnits).map(entryInWords),
    ...(changes.length > 0 ? [`entries of changes: ${tally(changes.map(({ type }) => type))}`] : []),
    ...countsInWords('entries', {
      'that this version cannot read': rows.filter(({ to }) => to !== null && read(to, fromEntryItem) === null).length,
      [`only in ${name}`]: rows.filter(({ from }) => from !== null).length,
    }),
  ]
}

/** A changed limit is told with its budget. */
const movesUnits = ({ moves }: Entry): boolean =>
  moves.some(({ move }) => Object.keys(move).some((member) => member !== 'limit'))

function entryInWords(entry: Entry): string {
  const { type, budget, to, corrects, moves, month, day, by, at, reason } = entry
  const what = `${isOnce(moves) ? 'one-time ' : ''}${plain(type)}`
  const granted = new Set(moves.flatMap(({ budget: name, move }) => (move.granted === undefined ? [] : name)))
  const where = to === undefined ? `on ${list([...granted.add(budget)])}` : `from ${budget} to ${to}`
  const windows = new Set(moves.map(({ window }) => (window === 'month' ? month : day)))
  const of = corrects === undefined ? '' : ` of ${corrects}`
  return `${what}${of}: ${units(entry.units)} ${where}, ${list([...windows])}, by ${by} at ${toRfc3339(at)}: ${reason}`
}

const plain = (slug: string): string => slug.replaceAll('-', ' ')

function tally(slugs: readonly string[]): string {
  return list(
    [...new Set(slugs)].map((slug) => `${count(slugs.filter((each) => each === slug).length)} ${plain(slug)}`),
  )
}

function updatesInWords(rows: readonly Differing[], name: string): readonly string[] {
  const pairs = rows.map(({ from, to }) => ({ before: read(from, fromUpdateItem), after: read(to, fromUpdateItem) }))
  const missing = pairs.flatMap(({ before, after }) => (before === null && after ? after : []))
  const both = pairs.flatMap(({ before, after }) => (before && after ? [{ before, after }] : []))
  const extra = rows.filter(({ to }) => to === null).length
  const moved = both.filter(({ before, after }) => before.state !== after.state)
  const others = both.filter(({ before, after }) => before.state === after.state)
  return [
    ...missingInWords(missing),
    ...moved.map(({ before, after }) => changeInWords(before, after)),
    ...(others.length > 0 ? [`${updates(others.length)} with another ${membersOf(others)}`] : []),
    ...countsInWords('updates', {
      'that this version cannot read': rows.length - missing.length - both.length - extra,
      [`only in ${name}`]: extra,
    }),
  ]
}

const updates = (number: number): string => countOf(number, 'update')

function missingInWords(missing: readonly Update[]): string[] {
  if (missing.length === 0) return []
  const states = [...new Set(missing.map(({ state }) => state))].map((state) => {
    const those = missing.filter((update) => update.state === state)
    const cost = those.reduce((sum, update) => sum + unitsOf(update), 0)
    return `${count(those.length)} ${plain(state)}${cost === 0 ? '' : ` (${units(cost)})`}`
  })
  return [`${updates(missing.length)}: ${list(states)}`]
}

const unitsOf = ({ charged, hold, state }: Update): number =>
  charged ?? (state === 'running' || state === 'in-doubt' ? (hold?.units ?? 0) : 0)

function changeInWords(before: Update, after: Update): string {
  const approved = after.approval && !before.approval ? `, approved by ${after.approval.by}` : ''
  const cost = unitsOf(after) === unitsOf(before) ? '' : ` (${units(unitsOf(after))})`
  return `${after.id}: ${plain(before.state)} → ${plain(after.state)}${cost}${approved}`
}

function membersOf(pairs: readonly { readonly before: Update; readonly after: Update }[]): string {
  const members = pairs.flatMap(({ before, after }) => {
    const [from, to]: Readonly<Record<string, unknown>>[] = [{ ...before }, { ...after }]
    return [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
      (member) => !isSame(from?.[member], to?.[member]),
    )
  })
  return list([...new Set(members)].filter((member) => member !== 'version' && member !== 'history'))
}
