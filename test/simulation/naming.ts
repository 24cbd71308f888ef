/** Short names for values, the same for equal ones: what tells one state of the world from another. */
const nameOfText = new Map<string, number>()
const nameOfObject = new WeakMap<object, number>()

function shortOf(text: string): number {
  const known = nameOfText.get(text)
  if (known !== undefined) return known
  nameOfText.set(text, nameOfText.size)
  return nameOfText.size - 1
}

/** Of something that is never changed: computed once for each object. */
export function nameOfFixed(value: object): number {
  const known = nameOfObject.get(value)
  if (known !== undefined) return known
  const name = shortOf(JSON.stringify(value))
  nameOfObject.set(value, name)
  return name
}

/** Items are named as wholes; what JSON cannot tell apart (`null` and nothing) is. */
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
