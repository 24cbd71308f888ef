export interface ReconcileRequest {
  readonly type: 'reconcile'
  /** The units that the vendor shows as left. */
  readonly unitsLeft: number
  /** When the vendor showed it. Absent: now. */
  readonly asOf?: number
  /** When a person entered a figure of now that is booked later. */
  readonly enteredAt?: number
  /** The difference that the person saw. No other difference is booked. `preview`: nothing is booked. */
  readonly shown?: number | 'preview'
  /** Whether the doubts that the figure has ran. A preview counts them so; a booking needs them closed. */
  readonly doubts?: DoubtAnswers
  /** The figure closes the month, so it must have every update of the month. */
  readonly closing?: boolean
  /** May be empty. */
  readonly reason: string
}

export type DoubtAnswer = 'ran' | 'did-not-run'

/** One answer for all, or one for each update. */
type DoubtAnswers = 'ran' | Readonly<Record<string, DoubtAnswer>>

/** A doubt that the vendor's figure has, if it ran. It is closed before the figure is booked. */
export interface OldDoubt {
  readonly id: string
  readonly project: string
  readonly units: number
  /** Absent: the request does not say it. */
  readonly outcome?: DoubtAnswer
}

/** What the figure lacks for certain or may lack, because it is too new. */
export interface Unshown {
  readonly ids: readonly string[]
  /** A figure of this time or later has all of them. `null`: there are none. */
  readonly until: number | null
}

/** The parts of the difference, for people. */
export interface Reconciliation {
  /** `null`: now. */
  readonly asOf: number | null
  /** When the figure was read. */
  readonly figureAt: number
  readonly unitsLeft: number
  readonly available: number
  readonly since: number
  readonly held: number
  readonly inDoubt: number
  readonly difference: number
  /** The units that the book expects on the vendor's screen. */
  readonly expected: number
  /** The value of `available` afterwards. */
  readonly after: number
  /** Updates that were open at `asOf`. The figure may or may not include them. */
  readonly open: readonly string[]
  /** The doubts that are closed first. The other parts count them as closed. */
  readonly doubts: readonly OldDoubt[]
  /** Running updates and doubts that are too new for this figure. */
  readonly young: Unshown
  /** The month before, which has its own figure: no part of the difference. */
  readonly before: { readonly held: number; readonly inDoubt: number; readonly ids: readonly string[] }
}

/** The figure has these doubts, if they ran, and the request does not say whether they ran. */
export interface DoubtsOpen {
  readonly kind: 'doubts-open'
  readonly doubts: readonly OldDoubt[]
  /** The figure is of an earlier time, so its doubts are closed before, by requests of their own. */
  readonly isEarlier: boolean
}
