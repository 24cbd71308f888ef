import * as z from 'zod/mini'
import { windowKinds } from '../../ledger/definitions/definitions.ts'
import type { Members, ValueKind } from '../../records/record.ts'
import { namesOf, productKinds } from '../../tracking/kinds.ts'

export const described = <Schema extends z.ZodMiniType>(schema: Schema, text: string): Schema =>
  schema.check(z.describe(text))
export const text = z.string()
export const time = z.iso.datetime()
export const whole = z.int()
export const units = z.int().check(z.gte(0))
export const yes = z.literal(true)
export const kind = z.enum(namesOf(productKinds))
export const windowKind = z.enum(windowKinds)
export const limit = z.union([units, z.literal('unlimited')])
export const limits = z.array(z.strictObject({ window: windowKind, units: limit }))
export const projects = z.array(z.strictObject({ name: text, id: z.exactOptional(text) }))

/** `problemMembers` has the other members of each type. */
export const problem = z.looseObject({ type: text, title: text, status: whole, detail: text })

export const stop = z.strictObject({ reason: text, by: text, at: time })

const shown = {
  units,
  number: whole,
  text,
  choice: text,
  flag: yes,
  yes,
  no: z.literal(false),
  limits,
  projects,
  stop,
  numbers: z.array(whole),
  texts: z.array(text),
  budgets: z.union([z.literal('*'), z.array(text)]),
} satisfies Record<ValueKind, z.ZodMiniType>

type ShownShape<Table extends Members> = {
  [Name in keyof Table]: z.ZodMiniExactOptional<(typeof shown)[Table[Name]['value']]>
}

/** Schemas for members of an answer. They check the type of each value, not the rules of requests. */
export const shownShape = <Table extends Members>(members: Table) =>
  Object.fromEntries(
    Object.entries(members).map(([name, { value }]) => [name, z.exactOptional(shown[value])]),
  ) as ShownShape<Table>

export const figures = {
  window: windowKind,
  start: time,
  end: time,
  resetsAt: time,
  limit,
  granted: whole,
  available: z.nullable(whole),
  held: units,
  inDoubt: units,
  spent: units,
}

export const lacked = z.array(z.strictObject({ budget: text, window: windowKind, short: units }))

export const members = z.array(z.strictObject({ member: text, from: z.unknown(), to: z.unknown() }))
