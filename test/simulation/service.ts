/** What the service knows: prices, what was run, what was consumed, and the dates that came of it. */
export interface SimulatedService {
  priceOf(project: string): number
  setPrice(project: string, units: number): void
  datesOf(project: string): readonly string[]
  /** A request for `run` has arrived. @param more what it costs above its estimate. */
  run(project: string, process: string, how: { ran: boolean; more: number }): Run
  readonly runs: readonly Run[]
}

export interface Run {
  readonly project: string
  readonly process: string
  readonly ran: boolean
  /** As estimated: what a guard can know without an answer. */
  readonly units: number
  /** What the answer said, once it came. */
  stated?: number
}

/** @param arrived told of each run as it arrives, before it has any effect. */
export function createService(options: {
  prices: Readonly<Record<string, number>>
  today: () => string
  arrived: (run: Run) => void
}): SimulatedService {
  const prices = new Map(Object.entries(options.prices))
  const dates = new Map<string, string[]>()
  const runs: Run[] = []
  const priceOf = (project: string) => prices.get(project) ?? 40
  return {
    priceOf,
    setPrice: (project, units) => void prices.set(project, units),
    datesOf: (project) => dates.get(project) ?? [],
    run: (project, process, { ran, more }) => {
      const run: Run = { project, process, ran, units: priceOf(project) }
      prices.set(project, priceOf(project) + more)
      options.arrived(run)
      runs.push(run)
      const today = options.today()
      const known = dates.get(project) ?? []
      if (ran && !known.includes(today)) dates.set(project, [...known, today].toSorted())
      return run
    },
    runs,
  }
}
