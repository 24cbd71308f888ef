import { toRfc3339 } from '../../platform/clock.ts'
import { storedMove } from '../book/book.ts'
import { windowKinds } from '../book/definitions.ts'
import type { Item, Position, Value } from '../store/store.ts'
import {
  any,
  either,
  expiryOf,
  flag,
  instant,
  keptForDays,
  list,
  type Members,
  map,
  number,
  oneOf,
  optional,
  orNull,
  readItem,
  record,
  sortKeyOf,
  text,
  textOf,
  units,
  whole,
  yes,
} from '../stored.ts'
import {
  type Approval,
  type Grant,
  type HistoryLine,
  type Hold,
  type KeptToken,
  type Problem,
  type ServiceAnswer,
  states,
  type Update,
  type UpdateRequest,
} from './update.ts'

export const updateKey = (id: string) => ({ pk: `update#${id}`, sk: 'update' })

export const isUpdateKey = (pk: string): boolean => pk.startsWith('update#')

/** By calendar month (UTC), so that no partition grows for ever. */
export const listedIn = (month: string) => `updates#${month}`

/**
 * The index names the budgets of an update, so that lists for readers of some budgets need not read the others'. Without
 * `upd_`: a settled record with a short answer stays below a kilobyte, for which each transaction pays.
 */
const placeOf = (at: number, { id, budget, owner }: UpdateRequest): string =>
  `${sortKeyOf(at, id.replace(/^upd_/, ''))}#${owner == null || owner === budget ? budget : `${budget},${owner}`}`

export const budgetsIn = (place: string): readonly string[] => place.split('#')[2]?.split(',') ?? []

/** A place just before or after the row in the list's order, for cursors: a reader may not know who paid. */
export function withoutBudgets({ sort, ...key }: Position, newestFirst: boolean): Position {
  const [at, id, budgets] = sort.split('#')
  return { ...key, sort: budgets === undefined ? sort : `${at}#${id}#${newestFirst ? '' : '~'}` }
}

export function toUpdateItem(update: Update): Item {
  const openAs = openAsOf(update)
  return {
    ...updateKey(update.id),
    ...(update as unknown as Record<string, Value>),
    listedIn: listedIn(toRfc3339(update.createdAt).slice(0, 7)),
    listedAt: placeOf(update.createdAt, update),
    ...(openAs && { openAs, openSince: placeOf(update.history.at(-1)?.at ?? update.createdAt, update) }),
    ...expiryOf(update.createdAt, keptForDays),
  }
}

/** For the sweep: unfinished, or released by a person without proof. */
export type OpenAs = 'awaiting-approval' | 'requested' | 'running' | 'in-doubt' | 'watched'

function openAsOf(update: Update): OpenAs | null {
  switch (update.state) {
    case 'awaiting-approval':
    case 'requested':
    case 'running':
    case 'in-doubt':
      return update.state
    case 'released':
      return update.closedBy === 'person' && !update.corrected && !update.unwatched ? 'watched' : null
    default:
      return null
  }
}

const storedGrant = record<Grant>({ budget: text, window: oneOf(windowKinds), units })

const storedHold = record<Hold>({
  units,
  attempt: text,
  at: instant,
  leaseUntil: instant,
  senderUntil: instant,
  day: text,
  budgets: list(text),
  owners: optional(list(text)),
  grants: optional(list(storedGrant)),
  datesBefore: optional(list(text)),
  previous: optional(list(text)),
  works: optional(list(text)),
})

const requestMembers: Members<UpdateRequest> = {
  id: text,
  kind: textOf(),
  project: text,
  query: optional(map(text)),
  target: optional(record({ segment: text, search: text })),
  budget: text,
  byDefault: optional(yes),
  owner: optional(orNull(text)),
  caller: text,
  via: textOf(),
  token: optional(
    record<KeptToken>({
      scopes: list(textOf()),
      budgets: either(oneOf(['*']), list(text)),
      person: optional(text),
      issuer: optional(record<NonNullable<KeptToken['issuer']>>({ name: text, claims: map(list(text)) })),
    }),
  ),
  plan: optional(text),
  scheduledAt: optional(instant),
  leave: optional(either(units, map(units))),
  reason: optional(text),
  force: optional(yes),
  again: optional(yes),
  proposed: optional(yes),
  maxUnits: optional(units),
  whenShort: optional(oneOf(['ask'])),
  tags: optional(map(text)),
  traceparent: optional(text),
  replyTo: optional(list(text)),
  content: record({ digest: text, count: whole }),
  createdAt: instant,
}

const storedUpdate = record<Update>({
  ...requestMembers,
  state: oneOf(states),
  version: whole,
  month: text,
  queued: optional(yes),
  requestedAt: optional(instant),
  finishedAt: optional(instant),
  estimated: optional(units),
  hold: optional(storedHold),
  charged: optional(units),
  ran: optional(flag),
  overrun: optional(units),
  short: optional(list(storedGrant)),
  priceBefore: optional(number),
  wouldHaveRefused: optional(list(storedGrant)),
  approval: optional(
    record<Approval>({ by: text, person: optional(text), at: instant, units, grants: optional(list(storedGrant)) }),
  ),
  approvedBefore: optional(units),
  approvableUntil: optional(instant),
  doubt: optional(record<NonNullable<Update['doubt']>>({ by: oneOf(['sender', 'sweep']), at: instant })),
  closedBy: optional(oneOf(['sender', 'evidence', 'time', 'person'])),
  corrected: optional(yes),
  takenBack: optional(list(storedGrant)),
  unwatched: optional(yes),
  problem: optional(record<Problem>({ slug: text, detail: text, members: map(any) })),
  service: optional(record<ServiceAnswer>({ status: whole, contentType: orNull(text), body: text, truncated: flag })),
  history: list(
    record<HistoryLine>({
      state: oneOf(states),
      at: instant,
      by: text,
      note: optional(text),
      move: optional(storedMove),
    }),
  ),
})

export const fromUpdateItem = (item: Item): Update => readItem(item, storedUpdate, ({ id }) => updateKey(id))
