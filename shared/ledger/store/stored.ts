import { dayMs, toRfc3339 } from '../../platform/clock.ts'
import { isUnits, type Units } from '../../platform/words.ts'
import { DamagedItem } from '../errors.ts'
import type { Index, Item, Value } from './store.ts'

/** Returns what is wrong with a value, or `null`. The types of stored records are inferred from their checks. */
export type Check<T> = ((value: unknown) => string | null) & { readonly of?: T }

interface Optional<T> {
  readonly optional: Check<T>
}

type Row = Check<unknown> | Optional<unknown>
/** A row for each member of a record. Unknown members pass: a later version may have written them. */
export type Members = Readonly<Record<string, Row>>

/** The type of the values that a check accepts. */
export type Of<R extends Row> = R extends Check<infer T> ? T : R extends Optional<infer T> ? T : never

/** The record that a table of members describes. */
export type Content<Table extends Members> = {
  readonly [Name in keyof Table as Table[Name] extends Optional<unknown> ? never : Name]: Of<Table[Name]>
} & {
  readonly [Name in keyof Table as Table[Name] extends Optional<unknown> ? Name : never]?: Of<Table[Name]>
}

/** Describes a type that is declared elsewhere. The table does not compile if a row is missing. */
export type MembersOf<T> = {
  readonly [Name in keyof T]-?: object extends Pick<T, Name> ? Optional<Required<T>[Name]> : Check<T[Name]>
}

/**
 * @param keyOf the key that the content implies. It must be the item's key.
 * @throws DamagedItem
 */
export function readItem<T>(item: Item, check: Check<T>, keyOf?: (content: T) => { readonly pk: string }): T {
  const content: unknown = contentOf(item)
  mustPass(item, content, check)
  if (keyOf && keyOf(content).pk !== item.pk) throw new DamagedItem(item, 'its id is not the one in its key')
  return content
}

function mustPass<T>(item: Item, content: unknown, check: Check<T>): asserts content is T {
  const fault = check(content)
  if (fault !== null) throw new DamagedItem(item, fault.replace(/^\./, ''))
}

const must =
  <T>(what: string, isSound: (value: unknown) => boolean): Check<T> =>
  (value) =>
    isSound(value) ? null : ` must be ${what}`

/** Checks only that the value is text, because a later version may add values. */
export const textOf = <T extends string>(): Check<T> => must('text', (value) => typeof value === 'string')
export const text = textOf<string>()
export const instant = must<number>('a time', Number.isFinite)
export const number = must<number>('a number', Number.isFinite)
export const whole = must<number>('a whole number', Number.isSafeInteger)
export const units = must<Units>('units', isUnits)
export const flag = must<boolean>('true or false', (value) => typeof value === 'boolean')
/** The version of an item's form. */
export const exactly = <T extends number>(wanted: T): Check<T> => must(String(wanted), (value) => value === wanted)

export const yes = must<true>('true', (value) => value === true)
export const no = must<false>('false', (value) => value === false)
export const any = must<Value>('present', (value) => value !== undefined)

export const oneOf = <const T extends string>(values: readonly T[]): Check<T> =>
  must(`one of ${values.join(', ')}`, (value) => values.some((each) => each === value))

export const optional = <T>(check: Check<T>): Optional<T> => ({ optional: check })

export const either =
  <A, B>(first: Check<A>, second: Check<B>): Check<A | B> =>
  (value) =>
    first(value) === null ? null : second(value)

export const orNull = <T>(check: Check<T>): Check<T | null> =>
  either(
    must<null>('null', (value) => value === null),
    check,
  )

export const list =
  <T>(check: Check<T>): Check<readonly T[]> =>
  (value) => {
    if (!Array.isArray(value)) return ' must be a list'
    for (let index = 0; index < value.length; index++) {
      const fault = check(value[index])
      if (fault !== null) return `[${index}]${fault}`
    }
    return null
  }

export const map =
  <T>(check: Check<T>): Check<Readonly<Record<string, T>>> =>
  (value) => {
    if (!isMap(value)) return ' must be a map'
    for (const name of Object.keys(value)) {
      const fault = check(value[name])
      if (fault !== null) return `.${name}${fault}`
    }
    return null
  }

export const recordOf = <T>(members: MembersOf<T>): Check<T> => record(members as Members) as Check<T>

export function record<const Table extends Members>(members: Table): Check<Content<Table>> {
  const rows = Object.entries<Row>(members).map(([name, row]) =>
    typeof row === 'function'
      ? { name, check: row, isOptional: false }
      : { name, check: row.optional, isOptional: true },
  )
  return (value) => {
    if (!isMap(value)) return ' must be a map'
    for (const { name, check, isOptional } of rows) {
      const member = value[name]
      if (isOptional && member === undefined) continue
      const fault = member === undefined ? ' is missing' : check(member)
      if (fault !== null) return `.${name}${fault}`
    }
    return null
  }
}

type Forms = Readonly<Record<string, Members>>
/** One of several records. The member `kind` says which record it is. */
export type ContentByKind<Tables extends Forms> = {
  [Kind in keyof Tables]: { readonly kind: Kind } & Content<Tables[Kind]>
}[keyof Tables]

export function byKind<const Tables extends Forms>(forms: Tables): Check<ContentByKind<Tables>> {
  const checks = new Map(Object.entries(forms).map(([kind, members]) => [kind, record(members)] as const))
  return (value) => {
    const kind = isMap(value) ? value.kind : undefined
    const check = typeof kind === 'string' ? checks.get(kind) : undefined
    return check ? check(value) : `.kind must be one of ${[...checks.keys()].join(', ')}`
  }
}

const isMap = (value: unknown): value is { readonly [name: string]: unknown } =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The keys of a kind of items begin with its prefix. */
export const prefixOf = ({ name }: { readonly name: string }): string => `${name}#`

export const definitionsKey = { pk: 'definitions', sk: 'definitions' } as const

export const tableKey = { partition: 'pk', sort: 'sk' } as const

/** An item is in an index while it has both attributes. Indexes hold keys only, so most changes do not write to them. */
export const indexes = {
  'by-time': { partition: 'listedIn', sort: 'listedAt' },
  open: { partition: 'openAs', sort: 'openSince' },
} as const satisfies Record<Index, { partition: string; sort: string }>

/** In seconds. The database may delete an item later, so code must not use this as a deadline. */
export const expiryAttribute = 'expiresAt'

/** Longer than the 24 months that the product promises. */
export const keptForDays = 780

export const expiryOf = (at: number, days: number): { readonly [expiryAttribute]: number } => ({
  [expiryAttribute]: Math.floor((at + days * dayMs) / 1000),
})

export const sortKeyOf = (at: number, id: string): string => `${toRfc3339(at)}#${id}`

export function contentOf(item: Item): { readonly [name: string]: Value | undefined } {
  const {
    pk: _pk,
    sk: _sk,
    listedIn: _in,
    listedAt: _at,
    openAs: _as,
    openSince: _since,
    expiresAt: _until,
    ...content
  } = item
  return content
}
