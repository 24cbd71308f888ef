import * as z from 'zod/mini'
import { windowKinds } from '../../ledger/book/definitions.ts'
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

/** problems.ts has the members of each type. */
export const problem = z.looseObject({ type: text, title: text, status: whole, detail: text })

export const stop = z.strictObject({ reason: text, by: text, at: time })

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
