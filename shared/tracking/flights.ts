/**
 * Lets calls for the same key share one load until its first send. A later call starts a load of its own, so that each
 * caller gets an answer that was asked for after they came. Nothing is remembered.
 */
export function createFlights<T>(): (key: string, load: (onSend: () => void) => Promise<T>) => Promise<T> {
  const unsent = new Map<string, Promise<T>>()

  return (key, load) => {
    const joined = unsent.get(key)
    if (joined) return joined
    const close = () => {
      if (unsent.get(key) === flight) unsent.delete(key)
    }
    const flight = Promise.resolve().then(() => load(close))
    unsent.set(key, flight)
    flight.then(close, close)
    return flight
  }
}
