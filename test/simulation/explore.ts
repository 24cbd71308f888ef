import type { Choose } from './scheduler.ts'

/** One run of a scenario, with all its choices made by `choose`. It throws when a promise is broken. */
export type Scenario = (choose: Choose) => Promise<readonly string[]>

export interface Explored {
  readonly schedules: number
  /** The choices that broke a promise, and how it came about. */
  readonly failure: { readonly choices: readonly number[]; readonly error: Error } | null
  readonly isComplete: boolean
}

/**
 * Every schedule, depth first: a run is repeated with the same choices up to the last one that had another possibility.
 *
 * @param most no more than so many; `isComplete` says whether that was all.
 */
export async function explore(scenario: Scenario, most = Number.POSITIVE_INFINITY): Promise<Explored> {
  let path: { chosen: number; of: number }[] = []
  for (let schedules = 1; ; schedules++) {
    let depth = 0
    const choose: Choose = (of) => {
      const known = path[depth]
      if (known && known.of !== of)
        throw new Error('the same choices led to something else: the run is not deterministic')
      const place = known ?? { chosen: 0, of }
      if (!known) path.push(place)
      depth++
      return place.chosen
    }
    try {
      await scenario(choose)
    } catch (error) {
      const choices = path.slice(0, depth).map(({ chosen }) => chosen)
      return { schedules, failure: { choices, error: error as Error }, isComplete: false }
    }
    path = path.slice(0, depth)
    while (path.at(-1) && (path.at(-1)?.chosen ?? 0) + 1 === path.at(-1)?.of) path.pop()
    const last = path.at(-1)
    if (!last) return { schedules, failure: null, isComplete: true }
    last.chosen++
    if (schedules >= most) return { schedules, failure: null, isComplete: false }
  }
}

/** The same run again. */
export const replaying = (choices: readonly number[]): Choose => {
  let depth = 0
  return () => choices[depth++] ?? 0
}
