/** The traffic on the product's connections: calls of the service, and writes to the ledger, named by their effect on an update. */
export type What = 'estimate' | 'run' | 'hold' | 'settle' | 'doubt' | 'record' | 'occurrence' | 'other write'
export type Moment =
  | 'before'
  | 'during'
  /** The call has taken effect, and its answer is not sent yet. */
  | 'applied'
  | 'answered'

/** The steps at which the product is killed: before and after every transition of an update. */
const steps = {
  'before the estimate': ['estimate', 'before'],
  'a record not yet written': ['record', 'before'],
  'a record written, answer lost': ['record', 'applied'],
  'before the hold': ['hold', 'before'],
  'hold applied, answer lost': ['hold', 'applied'],
  'hold answered, run not yet sent': ['hold', 'answered'],
  'run has reached the service': ['run', 'before'],
  'while the service runs it': ['run', 'during'],
  'after the answer of run': ['run', 'answered'],
  'before the settlement': ['settle', 'before'],
  'settlement applied, answer lost': ['settle', 'applied'],
  'after the settlement': ['settle', 'answered'],
  'before a doubt is written': ['doubt', 'before'],
  'doubt applied, answer lost': ['doubt', 'applied'],
  'an occurrence not yet written': ['occurrence', 'before'],
  'an occurrence written, answer lost': ['occurrence', 'applied'],
  'before any other write': ['other write', 'before'],
} as const satisfies Readonly<Record<string, readonly [What, Moment]>>

export type Step = keyof typeof steps
export const stepNames = Object.keys(steps) as readonly Step[]

export interface Trap {
  /** Kills at the n-th `step` from now. */
  set(step: Step, nth: number): void
  hasSprung(): boolean
  /** Called for everything that goes over a connection. True: the trap has just killed the product. */
  passes(what: What, moment: Moment): boolean
}

export function createTrap(kill: () => void): Trap {
  let wanted: readonly [What, Moment] | null = null
  let left = 0
  let sprung = false
  return {
    set: (step, nth) => {
      wanted = steps[step]
      left = nth
      sprung = false
    },
    hasSprung: () => sprung,
    passes: (what, moment) => {
      if (wanted === null || wanted[0] !== what || wanted[1] !== moment || --left > 0) return false
      wanted = null
      sprung = true
      kill()
      return true
    },
  }
}
