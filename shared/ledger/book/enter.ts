import type { Clock } from '../../platform/clock.ts'
import { digest } from '../../platform/ids.ts'
import { madeAvailable } from '../definitions/counters.ts'
import {
  type Budget,
  budgetNamed,
  chainOf,
  isEnforced,
  type WindowKind,
  windowKinds,
} from '../definitions/definitions.ts'
import { dayAt, monthAfter, monthNamed, type Window } from '../definitions/windows.ts'
import { AnswerLost, Contention } from '../errors.ts'
import type { Store, Write } from '../store/store.ts'
import { type Book, bookAfter, bookAsOf, counterOf } from './book.ts'
import { type ChargeRefusal, chargeBooking } from './charge.ts'
import { correctionMarkKey, type Entry, entryKey, fromCorrectionMark, fromEntryItem, isOfUpdate } from './entry.ts'
import {
  type Booking,
  bookingOf,
  type CorrectionRequest,
  correctionBooking,
  type EntryRefusal,
  type EntryRequest,
  withBack,
} from './entry-request.ts'
import { bookMovesOf, writesFor } from './entry-writes.ts'
import type { DoubtsOpen, Reconciliation } from './figure.ts'
import { prepareBook } from './prepare.ts'
import { type MonthLines, reconciliationOf } from './reconcile.ts'
import type { View, Views } from './view.ts'

export type EnterOutcome =
  | { readonly kind: 'entered'; readonly entry: Entry; readonly again: boolean }
  | { readonly kind: 'unknown-budget'; readonly budget: string }
  | { readonly kind: 'unknown-entry' }
  | ChargeRefusal
  | DoubtsOpen
  | { readonly kind: 'key-reused' }
  | (Extract<EntryRefusal, { kind: 'short' }> & {
      readonly ends: Readonly<Record<WindowKind, number>>
      /** The names of month and day, if the month is over. */
      readonly past?: Readonly<Record<WindowKind, string>>
    })

export type EntryPreview =
  | {
      readonly kind: 'possible'
      readonly entry: Entry
      readonly before: Book
      readonly after: Book
      readonly reconciliation?: Reconciliation
    }
  | { readonly kind: 'entered'; readonly entry: Entry; readonly again: true }
  | Exclude<EnterOutcome, { kind: 'entered' }>

const maxRounds = 8

type OtherOutcome = Exclude<EntryPreview, { kind: 'possible' }>

interface BookableEntry {
  readonly entry: Entry
  readonly booking: Booking
  readonly book: Book
}

type Prepare = (target: Parameters<typeof prepareBook>[1]) => Promise<unknown>

interface Parts {
  readonly store: Store
  readonly view: () => Promise<View>
  readonly books: Views['books']
  readonly bookNamed: Views['bookNamed']
  readonly clock: Pick<Clock, 'sleep'>
  /** The time that the service may take to count a run. */
  readonly flightMs: number
  readonly readMonth: (now: View) => Promise<MonthLines | null>
}

export async function enter(parts: Parts, request: EntryRequest): Promise<EnterOutcome> {
  for (let round = 0; round < maxRounds; round++) {
    const made = await make(parts, request, (target) => prepareBook(parts.store, target))
    if ('kind' in made) return made
    const writes = writesFor(made.entry, made.booking, made.book)
    if (await isWritten(parts.store, writes, made.entry)) return { kind: 'entered', entry: made.entry, again: false }
  }
  throw new Contention('the book keeps changing')
}

export async function previewEntry(parts: Parts, request: EntryRequest): Promise<EntryPreview> {
  const made = await make(parts, withoutShown(request), async () => {})
  if ('kind' in made) return made
  const { entry, book, booking } = made
  const { reconciliation, closes = [] } = booking
  const after = bookAfter(closes.reduce(bookAfter, book), bookMovesOf(booking))
  const preview = { kind: 'possible', entry, before: book, after } as const
  return reconciliation ? { ...preview, reconciliation } : preview
}

const withoutShown = (request: EntryRequest): EntryRequest =>
  request.type === 'reconcile' ? { ...request, shown: 'preview' } : request

/** If the key has booked one difference, it cannot confirm another. */
const hasShown = (request: EntryRequest, { units }: Entry): boolean =>
  request.type !== 'reconcile' || request.shown === 'preview' || request.shown === units

/** @param prepare does nothing for a preview. */
async function make(parts: Parts, request: EntryRequest, prepare: Prepare): Promise<BookableEntry | OtherOutcome> {
  const now = await parts.view()
  const earlier = await entryOf(parts.store, request.id)
  if (earlier) {
    const isSame = earlier.content === request.content && hasShown(request, earlier)
    return isSame ? { kind: 'entered', entry: earlier, again: true } : { kind: 'key-reused' }
  }
  const named = [request.budget, ...(request.type === 'transfer' ? [request.to] : [])]
  const unknown = named.find((budget) => !budgetNamed(now.definitions, budget))
  if (unknown !== undefined) return { kind: 'unknown-budget', budget: unknown }
  switch (request.type) {
    case 'correction':
      return isOfUpdate(request.corrects)
        ? makeChargeCorrection(parts, request, now)
        : makeCorrection(parts, request, now, prepare)
    case 'reconcile':
      return makeReconciliation(parts, request, now, prepare)
    default:
      return makeNew(parts, request, now, prepare)
  }
}

/** @throws AnswerLost if the outcome is unknown. A caller with a key may then repeat the request. */
async function isWritten(store: Store, writes: readonly Write[], { id }: Entry): Promise<boolean> {
  try {
    return (await store.transact(writes, digest('enter', JSON.stringify(writes)))).applied
  } catch (error) {
    // If this read fails too, the entry may still exist.
    if (error instanceof AnswerLost && (await entryOf(store, id).catch(() => null))) return true
    throw error
  }
}

async function makeNew(
  parts: Parts,
  request: Exclude<EntryRequest, { type: 'correction' | 'reconcile' }>,
  now: View,
  prepare: Prepare,
): Promise<BookableEntry | OtherOutcome> {
  const target = 'window' in request && request.window === 'next-month' ? await nextMonth(parts, now) : now
  await prepare(target)
  const found = target.book
  const booking = bookingOf(request, now.definitions, found)
  if ('kind' in booking) return refusedIn(booking, target.month, now, found.day)
  return bookable(request, booking, found, now)
}

const maxReadings = 5
const indexLagsMs = 1_000

/** @throws Contention if the month's lines do not add up to its book, because spent units could then come back. */
async function makeReconciliation(
  parts: Parts,
  request: Extract<EntryRequest, { type: 'reconcile' }>,
  first: View,
  prepare: Prepare,
): Promise<BookableEntry | OtherOutcome> {
  let now = first
  for (let reading = 1; reading <= maxReadings; reading++) {
    await prepare(now)
    const lines = await parts.readMonth(now)
    if (lines) {
      const booking = reconciliationOf(request, now, lines, parts.flightMs)
      if ('kind' in booking) return refusedIn(booking, now.month, now, now.book.day)
      return bookable(request, booking, now.book, now)
    }
    if (reading < maxReadings) await parts.clock.sleep(indexLagsMs)
    now = await parts.view()
  }
  throw new Contention('the lines of the month do not add up to its book')
}

/** Corrects an entry, even of a closed month. */
async function makeCorrection(
  parts: Parts,
  request: CorrectionRequest,
  now: View,
  prepare: Prepare,
): Promise<BookableEntry | OtherOutcome> {
  const corrected = await entryOf(parts.store, request.corrects)
  if (!corrected) return { kind: 'unknown-entry' }
  const isOpen = now.month.name === corrected.month
  if (isOpen) await prepare(now)
  const found = isOpen ? now.book : await parts.bookNamed(corrected.month)
  if (!found) return { kind: 'unknown-entry' }
  const [mark] = await parts.store.get([correctionMarkKey(corrected.id)])
  const booking = correctionBooking(request, corrected, { book: found, isOpen }, mark && fromCorrectionMark(mark))
  if ('kind' in booking) {
    return refusedIn(booking, monthNamed(now.definitions.calendar, corrected.month) ?? now.month, now, found.day)
  }
  return bookable(request, booking, found, now)
}

async function makeChargeCorrection(
  parts: Parts,
  request: CorrectionRequest,
  now: View,
): Promise<BookableEntry | OtherOutcome> {
  const made = await chargeBooking(parts, request, now)
  return 'kind' in made ? made : bookable(request, made.booking, made.book, now)
}

async function entryOf(store: Store, id: string): Promise<Entry | null> {
  const [item] = await store.get([entryKey(id)])
  return item ? fromEntryItem(item) : null
}

async function nextMonth({ books }: Parts, { definitions, month, now }: View) {
  const { next: stored } = await books(definitions, month)
  const following = monthAfter(definitions.calendar, month)
  const { name } = dayAt(definitions.calendar, following.start)
  return { stored, definitions, month: following, now, book: bookAsOf(stored, definitions, following.name, name) }
}

function refusedIn(refused: EntryRefusal, month: Window, { day, now }: View, counted: string): OtherOutcome {
  if (refused.kind !== 'short') return refused
  const ends = { month: month.end, day: Math.min(month.end, day.end) }
  return { ...refused, ends, ...(month.end <= now && { past: { month: month.name, day: counted } }) }
}

function bookable(request: EntryRequest, booked: Booking, book: Book, now: View): BookableEntry {
  const booking = withBack(booked, book)
  return { entry: toEntry(request, booking, book, now), booking, book }
}

function toEntry(request: EntryRequest, booking: Booking, book: Book, now: View): Entry {
  const { units, moves, signs, giver, kept, reconciliation } = booking
  const { id, content, type, budget, reason, by } = request
  return {
    id,
    content,
    type,
    budget,
    reason: reason === '' ? 'no reason given' : reason,
    by,
    units,
    moves,
    ...(request.type === 'transfer' && { to: request.to }),
    ...(request.type === 'correction' && { corrects: request.corrects }),
    ...(reconciliation && reconciliation.figureAt !== now.now && { asOf: reconciliation.figureAt }),
    ...(signs && { signs }),
    ...(giver && { giver }),
    ...(kept && { kept: kept.total }),
    month: book.month,
    day: booking.day ?? book.day,
    at: now.now,
    ...bindingAfter(
      bookMovesOf(booking),
      book,
      chainOf(now.definitions, request.type === 'transfer' ? request.to : budget),
    ),
  }
}

/** Finds the tightest counter of the chain. After a grant, the parent may have less left than the budget. */
function bindingAfter(moves: Entry['moves'], book: Book, chain: readonly Budget[]): Pick<Entry, 'binds'> {
  const counters = windowKinds.flatMap((window) =>
    chain.filter(isEnforced).flatMap(({ name: budget }) => {
      const counter = counterOf(book, window, budget)
      if (!counter || counter.limit === 'unlimited') return []
      const moved = moves.filter((each) => each.budget === budget && each.window === window)
      return [
        { budget, window, available: moved.reduce((sum, { move }) => sum + madeAvailable(move), counter.available) },
      ]
    }),
  )
  const [binds] = counters.toSorted((a, b) => a.available - b.available)
  return binds ? { binds } : {}
}
