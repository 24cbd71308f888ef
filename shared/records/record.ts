import * as z from 'zod/mini'
import { type Kinds, productKinds } from '../tracking/kinds.ts'

/** A `yes` member is stored only as `true`, and a `no` member only as `false`. Requests may send either value. */
export type ValueKind =
  | ('units' | 'number' | 'numbers' | 'text' | 'texts' | 'choice' | 'flag' | 'yes' | 'no')
  | ('limits' | 'projects' | 'budgets' | 'stop')

/** The row of one member in the table of its record. */
export interface Member {
  readonly value: ValueKind
  /** Absent if requests cannot set the member. It is a function, because building all schemas would delay a start. */
  readonly schema?: (kinds: Kinds) => z.ZodMiniType
  /** The description in the OpenAPI document. */
  readonly text?: string | ((kinds: Kinds) => string)
  /** The label of its field. Absent if no form has the field. */
  readonly label?: string
  readonly note?: string
  readonly section?: string
  readonly isRequired?: true
  /** The first choice is the default. */
  readonly choices?: readonly (readonly [value: string, label: string])[]
  /** Whether the budgets' file has a column for it. */
  readonly csv?: true
  /** Whether `prune` may remove it. */
  readonly removable?: true
}

export type Members = Readonly<Record<string, Member>>

export interface Stop {
  readonly reason: string
  readonly by: string
  readonly at: number
}

interface Requested {
  readonly schema: (kinds: Kinds) => z.ZodMiniType
}
type SchemaOf<Row extends Requested> = ReturnType<Row['schema']>

type ReadonlyList<T> = T extends readonly (infer Row)[] ? readonly Row[] : T

type StoredValue<Row extends Member> = Row['value'] extends 'yes'
  ? true
  : Row['value'] extends 'no'
    ? false
    : Row extends Requested
      ? ReadonlyList<z.output<SchemaOf<Row>>>
      : Stop

export type Stored<Table extends Members> = { readonly [Name in keyof Table]?: StoredValue<Table[Name]> }

type RequestShape<Table extends Members> = {
  [Name in keyof Table as Table[Name] extends Requested ? Name : never]: Table[Name] extends Requested
    ? Table[Name]['value'] extends 'yes'
      ? z.ZodMiniDefault<SchemaOf<Table[Name]>>
      : z.ZodMiniExactOptional<SchemaOf<Table[Name]>>
    : never
}

export const requestShape = <Table extends Members>(members: Table, kinds = productKinds as Kinds) =>
  Object.fromEntries(
    Object.entries(members).flatMap(([name, { value, schema }]) => {
      if (!schema) return []
      return [[name, value === 'yes' ? z._default(schema(kinds), false) : z.exactOptional(schema(kinds))]]
    }),
  ) as RequestShape<Table>
