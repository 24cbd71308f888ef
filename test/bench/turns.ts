import { systemIds } from '../../shared/platform/ids.ts'

/** Runs once. @returns milliseconds, or a rate. */
export type Arm = () => Promise<number>

/**
 * Takes the arms in turn, in another order each time, so that the machine's other load and each arm's garbage meet all
 * arms alike.
 *
 * @returns for each arm its figures without the warm-up, in the order of the turns.
 */
export async function takeTurns<Name extends string>(
  arms: Readonly<Record<Name, Arm>>,
  { turns, warmUp }: { turns: number; warmUp: number },
): Promise<Record<Name, number[]>> {
  const named = Object.entries<Arm>(arms) as [Name, Arm][]
  const said = Object.fromEntries(named.map(([name]) => [name, [] as number[]])) as Record<Name, number[]>
  for (let turn = -warmUp; turn < turns; turn++) {
    for (const [name, arm] of shuffled(named)) {
      const figure = await arm()
      if (turn >= 0) said[name].push(figure)
    }
  }
  return said
}

const shuffled = <Thing>(things: readonly Thing[]): Thing[] =>
  things
    .map((thing) => ({ thing, place: systemIds.fraction() }))
    .toSorted((a, b) => a.place - b.place)
    .map(({ thing }) => thing)

/** An arm measured in milliseconds. */
export const timed =
  (act: (turn: number) => Promise<unknown>): Arm =>
  async () => {
    const from = performance.now()
    await act(nextTurn++)
    return performance.now() - from
  }

/** Gives each run its own names. */
let nextTurn = 0

export const median = (numbers: readonly number[]): number => quantile(numbers, 0.5)

/** @param part 0.1: the value that a tenth of the numbers do not exceed. */
export function quantile(numbers: readonly number[], part: number): number {
  const sorted = numbers.toSorted((a, b) => a - b)
  const place = part * (sorted.length - 1)
  const low = sorted[Math.floor(place)] ?? Number.NaN
  const high = sorted[Math.ceil(place)] ?? Number.NaN
  return low + (high - low) * (place - Math.floor(place))
}
