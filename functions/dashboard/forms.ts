import type { Context } from 'hono'
import * as z from 'zod/mini'
import { type FaceEnv, readBytes } from '../../shared/api/face.ts'
import { invalid, Refusal } from '../../shared/api/refusal.ts'
import { allFaults } from '../../shared/guard/fields.ts'
import { problem } from '../../shared/guard/problems.ts'
import type { FormValues } from './flash.ts'

/** The fields of a form that a page of ours has sent. @throws Refusal 413 or 415 */
export async function readForm(c: Context<FaceEnv>): Promise<URLSearchParams> {
  const mediaType = c.req.header('content-type')?.split(';')[0]?.trim().toLowerCase()
  const bytes = await readBytes(c)
  if (mediaType === 'application/x-www-form-urlencoded') return new URLSearchParams(new TextDecoder().decode(bytes))
  throw new Refusal(problem('unsupported-media-type', 'This takes a form as browsers send it.'))
}

/**
 * The fields as a schema takes them: what was left empty is absent, and only `lists` have several values.
 *
 * @throws Refusal 400 with all faults at once.
 */
export function readFields<Schema extends z.ZodMiniType>(
  form: URLSearchParams,
  schema: Schema,
  lists: readonly string[] = [],
): z.output<Schema> {
  const names = [...new Set(form.keys())].filter((name) => form.getAll(name).some((value) => value !== ''))
  const members = names.map((name) => [name, lists.includes(name) ? form.getAll(name) : form.get(name)] as const)
  const parsed = schema.safeParse(Object.fromEntries(members))
  if (parsed.success) return parsed.data
  throw invalid(allFaults([], parsed.error.issues))
}

/** These fields as they were filled in, right or wrong. */
export const typedIn = (form: URLSearchParams, ...names: readonly string[]): FormValues =>
  Object.fromEntries(names.map((name) => [name, form.get(name) ?? '']))

/** Whole units as users type them: `1,200` and `1 200` are 1200; NaN for what is no number, or not surely this one. */
export const toNumber = (text: string): number =>
  inThousands.test(text.trim()) ? Number(text.replace(/\D/g, '')) : Number.NaN

const inThousands = /^(\d+|[1-9]\d{0,2}([,. '’\u00a0\u202f]\d{3})+)$/

export const typedNumber = z.pipe(z.string(), z.transform(toNumber))
