import type { Json } from './json.ts'

export type Fault = { readonly path: string; readonly message: string }

const maxNameLength = 60

/** Finds what schemas miss: text that is not Unicode, and names that zod drops. */
export function textFaults(value: Json, path: readonly string[] = []): Fault[] {
  if (typeof value === 'string') return value.isWellFormed() ? [] : [{ path: toPath(path), message: 'is not Unicode' }]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, member]) => {
    const at = [...path, name]
    if (name === '__proto__') return [{ path: toPath(at), message: 'is not a known member' }]
    return name.isWellFormed() ? textFaults(member, at) : [{ path: toPath(at), message: 'is not Unicode' }]
  })
}

type Issue = {
  readonly code: string
  readonly path: readonly PropertyKey[]
  readonly message: string
  readonly expected?: string
  readonly keys?: readonly string[]
  /** Faults of a record's name. */
  readonly issues?: readonly { readonly message: string }[]
}

/** @param found faults from before the schema ran. Schema faults at or below their paths are dropped. */
export function allFaults(found: readonly Fault[], issues: readonly Issue[] = []): Fault[] {
  const isNamed = (path: string) => found.some((fault) => path === fault.path || path.startsWith(`${fault.path}.`))
  return [...found, ...issues.flatMap(toFaults).filter(({ path }) => !isNamed(path))]
}

function toFaults({ code, path, message, expected, keys, issues }: Issue): Fault[] {
  if (code === 'unrecognized_keys' && keys) {
    return keys.map((key) => ({ path: toPath([...path, key]), message: 'is not a known member' }))
  }
  if (code === 'invalid_key') return [{ path: toPath(path), message: issues?.[0]?.message ?? message }]
  const isNoObject = code === 'invalid_type' && (expected === 'object' || expected === 'record')
  return [{ path: toPath(path), message: isNoObject ? 'must be a JSON object' : message }]
}

export const toPath = (path: readonly PropertyKey[]): string => path.map((name) => shorten(String(name))).join('.')

/** Replaces control characters, because a terminal would obey them. */
export function shorten(name: string): string {
  const plain = name.toWellFormed().replace(/\p{Cc}/gu, '\u{fffd}')
  return plain.length > maxNameLength ? `${plain.slice(0, maxNameLength).toWellFormed()}…` : plain
}
