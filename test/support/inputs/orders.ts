/** Every order of the items. */
export function ordersOf<Item>(items: readonly Item[]): Item[][] {
  if (items.length === 0) return [[]]
  return items.flatMap((first, at) => ordersOf(items.toSpliced(at, 1)).map((rest) => [first, ...rest]))
}

/** Every sequence of up to `most` items, with repeats. The first is empty. */
export function sequencesOf<Item>(items: readonly Item[], most: number): Item[][] {
  if (most === 0) return [[]]
  return [[], ...items.flatMap((first) => sequencesOf(items, most - 1).map((rest) => [first, ...rest]))]
}
