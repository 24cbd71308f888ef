import { once } from '../platform/parallel.ts'

// biome-ignore lint/suspicious/noExplicitAny: whatever they take and give, it is passed on.
type Functions<T> = { [Name in keyof T]: (...args: any[]) => Promise<unknown> }

/**
 * Functions that are loaded when one of them is called for the first time, all together: what a request seldom needs
 * is no part of a cold start. Loading that has failed is tried again with the next call.
 */
export function onDemand<T extends Functions<T>>(load: () => Promise<T>, names: Readonly<Record<keyof T, true>>): T {
  const loaded = once(load)
  const call =
    (name: keyof T) =>
    async (...args: unknown[]) =>
      (await loaded())[name](...args)
  return Object.fromEntries(Object.keys(names).map((name) => [name, call(name as keyof T)])) as T
}
