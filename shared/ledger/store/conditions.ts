import { isDeepStrictEqual } from 'node:util'
import type { Condition, Item, Path, Value, Write } from './store.ts'

/** @param found the stored item. */
export function resultOf(write: Exclude<Write, { kind: 'check' }>, found: Item | undefined): Item {
  if (write.kind === 'put') return write.item
  const old: Item = found ?? { ...write.key }
  const set = write.set.reduce<Container>((item, [path, value]) => withValue(item, path, () => value), old)
  return write.add.reduce<Container>(
    (item, [path, units]) =>
      withValue(item, path, (before) => {
        if (typeof before !== 'number') throw new Error(`there is no number at ${path.join('.')} to add to`)
        return before + units
      }),
    set,
  ) as Item
}

type Container = { readonly [name: string]: Value | undefined }

function withValue(
  container: Container,
  path: readonly string[],
  change: (old: Value | undefined) => Value,
): Container {
  const [name = '', ...rest] = path
  const inner = Object.hasOwn(container, name) ? container[name] : undefined
  if (rest.length === 0) return { ...container, [name]: change(inner) }
  if (!isContainer(inner)) throw new Error(`there is no map at ${path.join('.')} to change`)
  return { ...container, [name]: withValue(inner, rest, change) }
}

const isContainer = (value: Value | undefined): value is Container =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function valueAt(item: Item | undefined, path: Path): Value | undefined {
  let value: Value | undefined = item
  for (const name of path) value = isContainer(value) ? value[name] : undefined
  return value
}

/** Evaluates a condition by DynamoDB's rules. */
export function holds(condition: Condition, item: Item | undefined): boolean {
  if (condition.kind === 'absent-item') return item === undefined
  if (condition.kind === 'present-item') return item !== undefined
  const value = valueAt(item, condition.path)
  switch (condition.kind) {
    case 'absent':
      return value === undefined
    case 'equal':
      return isDeepStrictEqual(value, condition.value)
    case 'at-least':
      return typeof value === 'number' && value >= condition.value
    case 'at-most':
      return typeof value === 'number' && value <= condition.value
    case 'before':
      return typeof value === 'string' && value < condition.value
  }
}
