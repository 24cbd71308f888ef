/** Runs until it has succeeded once; whoever asks meanwhile, or later, has the same answer. */
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
