import * as z from 'zod/mini'
import type { Json } from '../platform/json.ts'
import { isUnits, maxUnits, type Units } from '../platform/words.ts'
import { anyOf, type Kinds, namesOf } from '../tracking/kinds.ts'

/** @param instead advice at the end of the message. */
export const wholeUnits = (from: 0 | 1, instead?: string) => {
  const takes = `must be a whole number of units from ${from} to ${maxUnits}${instead === undefined ? '' : `; ${instead}`}`
  const isInRange = (number: number) => isUnits(number) && number >= from && number <= maxUnits
  return z.pipe(
    z.number(takes).check(z.refine(isInRange, takes)),
    z.transform((number) => number as Units),
  )
}

export const units = wholeUnits(0)
export const someUnits = wholeUnits(1)

export const kindOf = (kinds: Kinds) => z.enum(namesOf(kinds), `must be ${anyOf(namesOf(kinds))}`)

const isProject = (text: string) =>
  /^[^\p{Cc}]{1,512}$/u.test(text) && text !== '.' && text !== '..' && text.isWellFormed()

export const project = z
  .string('must be the name of a project')
  .check(z.refine(isProject, 'must have 1 to 512 characters, no control characters, and neither "." nor ".."'))

const shortName = z.regex(/^[a-z0-9][a-z0-9-]{0,62}$/, 'must have 1 to 63 of a-z, 0-9 and -, not beginning with -')

export const budgetName = z.string('must be the name of a budget').check(shortName)

/** The name becomes part of an EventBridge rule's name and of the caller `schedule:<plan>`. */
export const planName = z.string('must be the name of a plan').check(shortName)

const maxQueryNames = 20
const maxValueLength = 512

const queryName = z.lazy(() =>
  z.string().check(z.regex(/^[^\p{Cc}]{1,64}$/u, 'names have 1 to 64 characters, none of them a control character')),
)

const queryValue = z.lazy(() =>
  z.pipe(
    z.union(
      [
        z
          .string()
          .check(
            z.minLength(1, 'must not be empty'),
            z.maxLength(maxValueLength, `must have at most ${maxValueLength} characters`),
          ),
        z.number(),
        z.boolean(),
      ],
      'must be a string, a number, true or false',
    ),
    z.transform(String),
  ),
)

/** The service gets the query with `estimate` and with `run`. */
export const query = z.lazy(() =>
  z
    .record(queryName, queryValue)
    .check(z.refine((query) => Object.keys(query).length <= maxQueryNames, `must have at most ${maxQueryNames} names`)),
)

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
