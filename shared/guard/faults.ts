import type { Json } from '../platform/json.ts'

/** What is wrong with something that people wrote, as they are told it: where, and what is taken there. */
export type Fault = { readonly path: string; readonly message: string }

/** How much of a name that a caller made up is shown to them again. */
const maxNameLength = 60

/** What a schema of ours would not see: text that has no UTF-8, and a name that zod leaves out of a record. */
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
  /** Of a name in a record: what is wrong with it. */
  readonly issues?: readonly { readonly message: string }[]
}

/** @param found before the schema looked; nothing more is said about what these name. */
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
  return [{ path: toPath(path), message: isNoObject ? 'takes a JSON object' : message }]
}

export const toPath = (path: readonly PropertyKey[]): string => path.map((name) => shorten(String(name))).join('.')

/** Names come from outside: what was sent is not sent back at length, nor what a terminal would act on. */
export function shorten(name: string): string {
  const plain = name.toWellFormed().replace(/\p{Cc}/gu, '\u{fffd}')
  return plain.length > maxNameLength ? `${plain.slice(0, maxNameLength).toWellFormed()}…` : plain
}
