/** Short names for values, equal for equal ones, to distinguish states of the world. */
const nameOfText = new Map<string, number>()
const nameOfObject = new WeakMap<object, number>()

function shortOf(text: string): number {
  const known = nameOfText.get(text)
  if (known !== undefined) return known
  nameOfText.set(text, nameOfText.size)
  return nameOfText.size - 1
}

/** Computed once for each object, because these objects never change. */
export function nameOfFixed(value: object): number {
  const known = nameOfObject.get(value)
  if (known !== undefined) return known
  const name = shortOf(JSON.stringify(value))
  nameOfObject.set(value, name)
  return name
}

/** Distinguishes what JSON cannot (`null` and a missing member). */
export function nameOf(value: unknown): string {
  if (value === undefined) return '-'
  if (value instanceof Error) return `${value.name}: ${value.message}`
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(nameOf).join()}]`
  if ('pk' in value && 'sk' in value && Object.keys(value).length > 3) return `#${nameOfFixed(value)}`
  return `{${Object.entries(value)
    .map(([name, member]) => `${name}:${nameOf(member)}`)
    .join()}}`
}
