/**
 * The account's figure and updates in doubt, as a small machine whose every state is searched (`search.ts`). A tick is one flight of the
 * service. ../README.md says what is left out.
 */

/** Each rule is on, except in the variant that must break a promise without it (`bugs.ts`). */
export interface FigureRules {
  /** A figure closes the doubts that it has. Without it, they are assumed not to be in it. */
  readonly doubtsFirst: boolean
  /** A correction upwards of an update that the figure has leaves account at the figure. */
  readonly keepsUp: boolean
  readonly keepsDown: boolean
  /** Units of an update count as missing in the figure until the figure must show them, whenever they were booked. */
  readonly byShown: boolean
  /** A figure of an earlier time may lack what settled within a flight before it. */
  readonly flightBefore: boolean
  /** Doubts of the month before are no part of the figure. */
  readonly monthApart: boolean
  /** A figure that closes the month waits until it has every update. */
  readonly closingWaits: boolean
  /** The book keeps when the figure was booked. Without it, only when the figure was read. */
  readonly bookedOn: boolean
}

export const allFigureRules: FigureRules = {
  doubtsFirst: true,
  keepsUp: true,
  keepsDown: true,
  byShown: true,
  flightBefore: true,
  monthApart: true,
  closingWaits: true,
  bookedOn: true,
}

export interface FigureUpdate {
  /** The tick at which its sender put it in doubt. `null`: the sender settled it. */
  readonly doubtAt: number | null
  /** What the vendor counts, from `shownAt` on. Only the model knows both. */
  readonly cost: number
  readonly shownAt: number
  readonly month: 0 | 1
  readonly isOpen: boolean
  readonly charged: number
  /** All units that were ever added to its charge. */
  readonly added: number
  readonly closedAt: number
  /** Its sender has answered, so nothing changes it any more. */
  readonly isFinal: boolean
}

export interface Figure {
  readonly readAt: number
  readonly bookedAt: number
  readonly isClosing: boolean
  /** The figure may lack an update, and the preview names it. */
  readonly hasYoung: boolean
  /** What the vendor counted outside after the figure was read. */
  readonly unknown: number
}

export interface FigureMonth {
  /** What the book counts as spent outside. */
  readonly outside: number
  readonly figure: Figure | null
  /** The last tick at which account's spent units went down. */
  readonly downAt: number
}

export interface FigureState {
  readonly tick: number
  readonly updates: readonly FigureUpdate[]
  /** The ticks of what was spent outside. */
  readonly outs: readonly number[]
  readonly months: readonly [FigureMonth, FigureMonth]
}

export interface FigureScene {
  readonly doubts: number
  readonly costs: readonly number[]
  readonly ticks: number
  /** The first tick of the next month. Absent: the month does not turn. */
  readonly turnsAt?: number
  readonly outs: number
  /** How many updates settle at once, besides. */
  readonly settled: number
  readonly asOf: boolean
}

export const heldUnits = 10
export const outUnits = 7
export const unitsPerMonth = 1_000

const emptyMonth: FigureMonth = { outside: 0, figure: null, downAt: -1 }

/** Every choice of true costs, and of the ticks at which the vendor shows them. The order of the doubts makes no difference. */
export function firstStates({ doubts, costs }: FigureScene): FigureState[] {
  const truths = costs.flatMap((cost) =>
    cost === 0 ? [{ cost, shownAt: 0 }] : [0, 1, 2].map((shownAt) => ({ cost, shownAt })),
  )
  const choices = Array.from({ length: doubts }).reduce<(typeof truths)[]>(
    (all) => all.flatMap((each) => truths.slice(0, howManyMayFollow(truths, each)).map((truth) => [...each, truth])),
    [[]],
  )
  return choices.map((each) => ({
    tick: 0,
    updates: each.map((truth) => ({ ...doubt, ...truth })),
    outs: [],
    months: [emptyMonth, emptyMonth],
  }))
}

/** How many truths may follow: those up to the last one that was chosen. */
const howManyMayFollow = <T>(truths: readonly T[], chosen: readonly T[]): number => {
  const last = chosen.at(-1)
  return last === undefined ? truths.length : truths.indexOf(last) + 1
}

export const doubt: FigureUpdate = {
  doubtAt: 0,
  cost: 0,
  shownAt: 0,
  month: 0,
  isOpen: true,
  charged: 0,
  added: 0,
  closedAt: -1,
  isFinal: false,
}

/** From this tick on, every figure has what it cost. */
export const shownFrom = ({ doubtAt, closedAt }: FigureUpdate): number =>
  doubtAt === null ? closedAt + 1 : doubtAt + 2

export const unitsInDoubt = (updates: readonly FigureUpdate[]): number =>
  updates.reduce((sum, { isOpen }) => sum + (isOpen ? heldUnits : 0), 0)

export function withMonth(state: FigureState, month: 0 | 1, changes: Partial<FigureMonth>): FigureState {
  const [first, second] = state.months
  const months =
    month === 0 ? ([{ ...first, ...changes }, second] as const) : ([first, { ...second, ...changes }] as const)
  return { ...state, months }
}
