import type { Context } from 'hono'
import * as z from 'zod/mini'
import { type FaceEnv, readBytes } from '../../shared/api/accept-requests.ts'
import { invalid, problemOf, Refusal } from '../../shared/api/refusal.ts'
import type { ChangeResult } from '../../shared/guard/people/budgets.ts'
import { problem } from '../../shared/guard/problems.ts'
import { readTags } from '../../shared/guard/tags.ts'
import { Contention } from '../../shared/ledger/errors.ts'
import type { Problem, Tags } from '../../shared/ledger/updates/update.ts'
import { allFaults } from '../../shared/platform/faults.ts'
import type { Log } from '../../shared/platform/log.ts'
import { readNumber } from '../../shared/platform/typed-number.ts'
import type { FieldFaults, Flash, FormValues } from './flash.ts'

/** @throws Refusal 413 or 415 */
export async function readForm(c: Context<FaceEnv>): Promise<URLSearchParams> {
  const mediaType = c.req.header('content-type')?.split(';')[0]?.trim().toLowerCase()
  const bytes = await readBytes(c)
  if (mediaType === 'application/x-www-form-urlencoded') return new URLSearchParams(new TextDecoder().decode(bytes))
  throw new Refusal(problem('unsupported-media-type', 'The body must be a form as browsers send it.'))
}

/** Empty fields count as absent. Only fields in `lists` have several values. @throws Refusal 400 with all faults */
export function readFields<Schema extends z.ZodMiniType>(
  form: URLSearchParams,
  schema: Schema,
  lists: readonly string[] = [],
): z.output<Schema> {
  const names = [...new Set(form.keys())].filter((name) => form.getAll(name).some((value) => value !== ''))
  const members = names.map((name) => [name, lists.includes(name) ? form.getAll(name) : form.get(name)] as const)
  return parse(schema, Object.fromEntries(members))
}

/** @throws Refusal 400 with all faults */
export function parse<Schema extends z.ZodMiniType>(schema: Schema, given: unknown): z.output<Schema> {
  const parsed = schema.safeParse(given)
  if (parsed.success) return parsed.data
  throw invalid(allFaults([], parsed.error.issues))
}

export const notDone = 'Nothing was done yet. Please correct the marked field.'

/** `null`: the refusal is not about these fields. */
export function faultsIn(error: unknown, names: readonly string[]): FieldFaults | null {
  const errors = error instanceof Refusal ? error.problem.members.errors : undefined
  if (!Array.isArray(errors)) return null
  const found = (errors as unknown as readonly { path: string; message: string }[]).map(
    ({ path, message }) => [path.split('.')[0] ?? '', asSentence(message)] as const,
  )
  return found.every(([name]) => names.includes(name)) ? Object.fromEntries(found.toReversed()) : null
}

/** Leaves out the filters with a fault. @throws Refusal 400 if a faulty field is not in `names` */
export function readFilters<Schema extends z.ZodMiniType>(
  query: URLSearchParams,
  schema: Schema,
  names: readonly string[],
): { readonly filters: z.output<Schema>; readonly faults: FieldFaults } {
  try {
    return { filters: readFields(query, schema), faults: {} }
  } catch (error) {
    const faults = faultsIn(error, names)
    if (!faults) throw error
    const valid = new URLSearchParams([...query].filter(([name]) => !Object.hasOwn(faults, name)))
    return { filters: readFields(valid, schema), faults }
  }
}

export const isEmpty = (faults: FieldFaults): boolean => Object.keys(faults).length === 0

/** Makes a sentence of a fault's message, which in an API problem follows the name of a member. */
export const asSentence = (message: string): string =>
  `${message.charAt(0).toUpperCase()}${message.slice(1).replace(/\.$/, '')}.`

export const inputOf = (form: URLSearchParams, ...names: readonly string[]): FormValues =>
  Object.fromEntries(names.map((name) => [name, form.get(name) ?? '']))

/** NaN, which no schema accepts: the text is not a number. */
export const toNumber = (text: string): number => readNumber(text) ?? Number.NaN

const maxShownNumber = 40

/** Its fault quotes the text. */
export const numberSchema = z.pipe(
  z.string(),
  z.transform((text, context): number => {
    const number = readNumber(text)
    if (number !== null) return number
    const message = `must be a whole number of units, such as 1200 or 1,200, and not “${text.slice(0, maxShownNumber)}”`
    context.issues.push({ code: 'custom', message, input: text })
    return z.NEVER
  }),
)

export const tagLines = z.pipe(
  z.string(),
  z.transform((text, context): Tags => {
    const lines = text.split(/\r?\n/).map((line) => line.trim())
    const read = readTags(lines.filter((line) => line !== ''))
    if ('tags' in read) return read.tags
    context.issues.push({ code: 'custom', message: read.fault, input: text })
    return z.NEVER
  }),
)

/** The pressed button of a form that has a preview. */
export const step = z.enum(['preview', 'confirm', 'edit'], 'must be one of the buttons')

const maxRounds = 8

export const isConflict = (result: { kind: string; problem?: Problem }): boolean =>
  result.problem?.slug === 'precondition-failed'

/** Repeats `attempt` while it returns `null`, which means that another change was faster. @throws Contention after eight rounds */
export async function retryUntilAnswered<Answer>(attempt: () => Promise<Answer | null>): Promise<Answer> {
  for (let round = 1; round <= maxRounds; round++) {
    const answer = await attempt()
    if (answer !== null) return answer
  }
  throw new Contention('the definitions keep changing')
}

/** Returns the conflict after eight rounds, because a project that now has another owner conflicts each time. */
export async function retryOnConflict(change: () => Promise<ChangeResult>): Promise<ChangeResult> {
  for (let round = 1; ; round++) {
    const result = await change()
    if (!isConflict(result) || round === maxRounds) return result
  }
}

export function flashOf(result: ChangeResult, done: string): Flash {
  if (result.kind === 'changed') return { done: [done], failed: [] }
  const failed = isConflict(result)
    ? 'Someone made a change since you loaded the page, so nothing was done. Check again.'
    : result.problem.detail
  return { done: [], failed: [failed] }
}

/** Stops at the first error and returns it as the last outcome. @throws the error if there is no earlier outcome */
export async function forEachId<Outcome>(
  ids: Iterable<string>,
  act: (id: string) => Promise<Outcome>,
  log: Log,
): Promise<readonly (Outcome | { readonly kind: 'problem'; readonly problem: Problem })[]> {
  const outcomes: (Outcome | { kind: 'problem'; problem: Problem })[] = []
  for (const id of new Set(ids)) {
    try {
      outcomes.push(await act(id))
    } catch (error) {
      if (outcomes.length === 0) throw error
      return [...outcomes, { kind: 'problem', problem: problemOf(error, log) }]
    }
  }
  return outcomes
}
