/** A 32-bit number that stands for a text: the world's only source of chance, so that it needs no memory. */
export function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  return mix(hash, text.length)
}

/** Two numbers become one that shows no trace of either (the finalizer of MurmurHash3). */
export function mix(a: number, b: number): number {
  let hash = Math.imul(a ^ 0x9e3779b9, 0x85ebca6b) + Math.imul(b ^ 0x27d4eb2f, 0xc2b2ae35)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}

/** From 0 up to, but not including, 1. */
export const fraction = (hash: number): number => hash / 2 ** 32

/** One of `items`. */
export function pick<Item>(items: readonly [Item, ...Item[]], hash: number): Item {
  return items[hash % items.length] ?? items[0]
}
