export type Turns = ReturnType<typeof createTurns>

/** Runs one after another what would otherwise take the book from each other, inside one process. */
export function createTurns() {
  const waiting: (() => Promise<void>)[] = []
  let isBusy = false

  async function takeTurns(): Promise<void> {
    if (isBusy) return
    isBusy = true
    for (let turn = waiting.shift(); turn; turn = waiting.shift()) await turn()
    isBusy = false
  }

  const add = <T>(turn: () => Promise<T>, how: 'push' | 'unshift'): Promise<T> =>
    new Promise((resolve, reject) => {
      waiting[how](() => turn().then(resolve, reject))
      void takeTurns()
    })

  return {
    inTurn: <T>(turn: () => Promise<T>): Promise<T> => add(turn, 'push'),
    /** Before all that wait: whoever stops something means now. */
    next: <T>(turn: () => Promise<T>): Promise<T> => add(turn, 'unshift'),
  }
}
