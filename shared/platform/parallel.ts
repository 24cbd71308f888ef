/** Does `work` for each item, at most `most` at once; results are in the order of the items. */
export async function inParallel<Item, Result>(
  items: readonly Item[],
  most: number,
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const slots = createSlots(most)
  return Promise.all(items.map((item) => slots.use(() => work(item))))
}

/** A number of places; who finds none waits for one, first come first served. */
export function createSlots(most: number) {
  const waiting: (() => void)[] = []
  let free = most

  async function take(): Promise<void> {
    if (free > 0) free--
    else await new Promise<void>((resolve) => waiting.push(resolve))
  }

  function give(): void {
    const next = waiting.shift()
    if (next) next()
    else free++
  }

  async function use<Result>(work: () => Promise<Result>): Promise<Result> {
    await take()
    try {
      return await work()
    } finally {
      give()
    }
  }

  return { take, give, use }
}
