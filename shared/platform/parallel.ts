/** The results are in the order of the items. */
export async function inParallel<Item, Result>(
  items: readonly Item[],
  max: number,
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const slots = createSlots(max)
  return Promise.all(items.map((item) => slots.use(() => work(item))))
}

/** The work that has waited longest gets the next free slot. */
export function createSlots(max: number) {
  const waiting: (() => void)[] = []
  let free = max

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

/** All callers share the result of the first success. A failure is not kept. */
export function once<T>(run: () => Promise<T>): () => Promise<T> {
  let done: Promise<T> | undefined
  return () => {
    done ??= run().catch((error) => {
      done = undefined
      throw error
    })
    return done
  }
}
