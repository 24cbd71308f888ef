import {
  doubt,
  type Figure,
  type FigureRules,
  type FigureScene,
  type FigureState,
  type FigureUpdate,
  heldUnits,
  outUnits,
  shownFrom,
  unitsInDoubt,
  unitsPerMonth,
  withMonth,
} from './state.ts'

export type FigureEvent =
  | { readonly kind: 'tick' | 'outside' }
  | { readonly kind: 'settled'; readonly lag: 0 | 1 }
  | { readonly kind: 'resolve'; readonly update: number; readonly units: number }
  | { readonly kind: 'late-answer'; readonly update: number }
  | { readonly kind: 'figure'; readonly outcome: 'ran' | 'did-not-run'; readonly isClosing?: boolean }
  | { readonly kind: 'figure-before'; readonly ticks: number }

export const nameOfEvent = (event: FigureEvent): string => Object.values(event).join(' ')

export class FigureModel {
  readonly scene: FigureScene
  readonly rules: FigureRules

  constructor(scene: FigureScene, rules: FigureRules) {
    this.scene = scene
    this.rules = rules
  }

  eventsOf({ updates }: Pick<FigureState, 'updates'>): FigureEvent[] {
    const { asOf, outs, settled } = this.scene
    return [
      { kind: 'tick' },
      ...(outs > 0 ? [{ kind: 'outside' } as const] : []),
      ...(settled > 0 ? ([0, 1] as const).map((lag) => ({ kind: 'settled', lag }) as const) : []),
      ...updates.flatMap((_, update): FigureEvent[] => [
        ...[0, heldUnits / 2, heldUnits].map((units) => ({ kind: 'resolve', update, units }) as const),
        { kind: 'late-answer', update },
      ]),
      ...(['ran', 'did-not-run'] as const).map((outcome) => ({ kind: 'figure', outcome }) as const),
      { kind: 'figure', outcome: 'ran', isClosing: true },
      ...(asOf ? [1, 2].map((ticks) => ({ kind: 'figure-before', ticks }) as const) : []),
    ]
  }

  /** `null`: refused, or not possible. */
  after(state: FigureState, event: FigureEvent): FigureState | null {
    const { tick, outs, updates } = state
    switch (event.kind) {
      case 'tick':
        return tick < this.scene.ticks ? { ...state, tick: tick + 1 } : null
      case 'outside':
        return outs.length < this.scene.outs ? this.spentOutside(state) : null
      case 'settled': {
        if (updates.length >= this.scene.doubts + this.scene.settled) return null
        const shown = { cost: heldUnits, shownAt: tick + event.lag, charged: heldUnits, added: heldUnits }
        const update = {
          ...doubt,
          ...shown,
          doubtAt: null,
          month: this.monthAt(tick),
          isOpen: false,
          closedAt: tick,
          isFinal: true,
        }
        return { ...state, updates: [...updates, update] }
      }
      case 'resolve': {
        const update = updates[event.update]
        if (!update?.isOpen || (event.units === 0 && tick < (update.doubtAt ?? 0) + 1)) return null
        return this.charge(state, event.update, event.units)
      }
      case 'late-answer': {
        const update = updates[event.update]
        // A run takes effect at most one flight before the vendor shows it.
        if (!update || update.isFinal || tick < update.shownAt - 1) return null
        return this.charge(state, event.update, update.cost, true)
      }
      case 'figure':
        return this.figureOfNow(state, event)
      case 'figure-before':
        return this.figureBefore(state, tick - event.ticks)
    }
  }

  /** What account has left in this month, and what counts as in doubt. */
  figuresOf(state: FigureState, month: 0 | 1 = this.monthAt(state.tick)) {
    const inDoubt = unitsInDoubt(state.updates.filter((each) => each.month === month))
    const spent = this.spent(state, month)
    return { spent, inDoubt, available: unitsPerMonth - spent - inDoubt }
  }

  /** `null`: every promise is kept. */
  broken(state: FigureState): string | null {
    const { updates } = state
    const rest = updates.reduce(
      (each, update, index) => (update.isFinal ? each : this.charge(each, index, update.cost, true)),
      state,
    )
    for (const month of [0, 1] as const) {
      const { figure } = state.months[month]
      const unknown = figure ? figure.unknown : outUnits * this.outsOf(state, month).length
      const known = this.counted(rest, month, Number.POSITIVE_INFINITY) - unknown
      const spent = this.spent(rest, month)
      if (spent < known) return `the book of month ${month} has ${known - spent} units more than the vendor`
      if (spent > known && (!figure?.hasYoung || figure.isClosing))
        return `the book of month ${month} counts ${spent - known} units twice`
    }
    return null
  }

  monthAt(tick: number): 0 | 1 {
    return tick >= (this.scene.turnsAt ?? Number.POSITIVE_INFINITY) ? 1 : 0
  }

  /** What the vendor shows as used in this month at this tick. */
  counted(state: FigureState, month: 0 | 1, tick: number): number {
    const shown = state.updates.filter((each) => each.month === month && each.shownAt <= tick)
    const outs = this.outsOf(state, month).filter((at) => at <= tick)
    return shown.reduce((sum, { cost }) => sum + cost, 0) + outUnits * outs.length
  }

  private outsOf = ({ outs }: FigureState, month: 0 | 1) => outs.filter((at) => this.monthAt(at) === month)

  private spent = ({ updates, months }: FigureState, month: 0 | 1): number =>
    updates.reduce((sum, each) => sum + (each.month === month ? each.charged : 0), months[month].outside)

  private spentOutside(state: FigureState): FigureState {
    const month = this.monthAt(state.tick)
    const { figure } = state.months[month]
    const outs = { ...state, outs: [...state.outs, state.tick] }
    return figure ? withMonth(outs, month, { figure: { ...figure, unknown: figure.unknown + outUnits } }) : outs
  }

  private charge(state: FigureState, index: number, units: number, isFinal = false): FigureState {
    const update = state.updates[index]
    if (!update) return state
    const { tick } = state
    const by = units - update.charged
    const closed = {
      ...update,
      isOpen: false,
      charged: units,
      added: update.added + Math.max(0, by),
      closedAt: update.isOpen ? tick : update.closedAt,
      isFinal,
    }
    const updates = state.updates.map((each, place) => (place === index ? closed : each))
    const { outside, figure, downAt } = state.months[update.month]
    const keeps = by > 0 ? this.rules.keepsUp : this.rules.keepsDown
    const isKept = !update.isOpen && keeps && figure !== null && this.isInFigure(update, figure)
    return withMonth({ ...state, updates }, update.month, {
      outside: outside - (isKept ? by : 0),
      downAt: by < 0 || (isKept && by > 0) ? tick : downAt,
    })
  }

  private isInFigure(update: FigureUpdate, { readAt, bookedAt }: Figure): boolean {
    return shownFrom(update) <= readAt && update.closedAt <= (this.rules.bookedOn ? bookedAt : readAt)
  }

  private figureOfNow(state: FigureState, event: Extract<FigureEvent, { kind: 'figure' }>): FigureState | null {
    const { tick } = state
    const month = this.monthAt(tick)
    const { isClosing = false, outcome } = event
    const isOld = (update: FigureUpdate) => update.month === month && update.isOpen && shownFrom(update) <= tick
    if (outcome === 'did-not-run' && !state.updates.some(isOld)) return null
    const hasYoung = this.hasYoung(state, month, tick)
    if (isClosing && hasYoung && this.rules.closingWaits) return null
    const closed = this.rules.doubtsFirst
      ? state.updates.reduce(
          (each, update, index) => (isOld(update) ? this.charge(each, index, outcome === 'ran' ? heldUnits : 0) : each),
          state,
        )
      : state
    const since = this.since(closed, month, tick)
    const difference = this.expected(closed, month, since) - (unitsPerMonth - this.counted(state, month, tick))
    return this.booked(closed, month, difference, { readAt: tick, bookedAt: tick, isClosing, hasYoung, unknown: 0 })
  }

  private figureBefore(state: FigureState, readAt: number): FigureState | null {
    const { tick, updates } = state
    const month = this.monthAt(tick)
    const { figure, downAt } = state.months[month]
    if (readAt < (month === 1 ? (this.scene.turnsAt ?? 0) : 0)) return null
    if (downAt > readAt || (figure && figure.bookedAt > readAt)) return null
    const isOld = (update: FigureUpdate) => update.month === month && update.isOpen && shownFrom(update) <= readAt
    if (this.rules.doubtsFirst && updates.some(isOld)) return null
    const since = this.since(state, month, readAt, true)
    const difference = this.expected(state, month, since) - (unitsPerMonth - this.counted(state, month, readAt))
    if (difference < 0) return null
    const unknown = outUnits * this.outsOf(state, month).filter((at) => at > readAt).length
    const hasYoung = this.hasYoung(state, month, readAt)
    return this.booked(state, month, difference, { readAt, bookedAt: tick, isClosing: false, hasYoung, unknown })
  }

  private booked(state: FigureState, month: 0 | 1, difference: number, figure: Figure): FigureState | null {
    if (this.spent(state, month) + difference < 0) return null
    const { outside, downAt } = state.months[month]
    return withMonth(state, month, {
      outside: outside + difference,
      figure,
      downAt: difference < 0 ? state.tick : downAt,
    })
  }

  private hasYoung = ({ updates }: FigureState, month: 0 | 1, readAt: number): boolean =>
    updates.some(
      (each) => each.month === month && shownFrom(each) > readAt && (each.isOpen || each.added > 0 || !each.isFinal),
    )

  /** What the book expects on the vendor's screen. */
  private expected(state: FigureState, month: 0 | 1, since: number): number {
    const { available, inDoubt } = this.figuresOf(state, month)
    const before =
      month === 1 && !this.rules.monthApart ? unitsInDoubt(state.updates.filter((each) => each.month === 0)) : 0
    return available + inDoubt + since + before
  }

  private since({ updates }: FigureState, month: 0 | 1, readAt: number, isBefore = false): number {
    const flight = isBefore && !this.rules.flightBefore ? 0 : 1
    const isMissing = (update: FigureUpdate) =>
      this.rules.byShown && (update.doubtAt !== null || flight > 0)
        ? shownFrom(update) > readAt
        : update.closedAt + flight > readAt
    return updates
      .filter((each) => each.month === month && !each.isOpen && isMissing(each))
      .reduce((sum, { added }) => sum + added, 0)
  }
}
