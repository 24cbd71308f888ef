export type Turns = ReturnType<typeof createTurns>

/** Runs one after another what would otherwise take the book from each other, inside one process. */
export function createTurns() {
  let last: Promise<unknown> = Promise.resolve()
  return <T>(turn: () => Promise<T>): Promise<T> => {
    const mine = last.then(turn)
    last = mine.catch(() => undefined)
    return mine
  }
}
