import * as z from 'zod/mini'
import { unreadable } from '../platform/words.ts'
import { project } from '../records/common-fields.ts'
import { anyOf, type Kinds, kindsBy, namesOf } from '../tracking/kinds.ts'

export const text = (most: number) => {
  const takes = `must have 1 to ${most} characters`
  return z.string('must be a string').check(z.minLength(1, takes), z.maxLength(most, takes))
}

export const projectsOfRequest = (takes: string) =>
  z.array(project, takes).check(
    z.minLength(1, 'must have 1 to 20 projects'),
    z.maxLength(20, 'must have 1 to 20 projects'),
    z.refine((names) => new Set(names).size === names.length, 'names a project twice'),
  )

export const reason = z
  .string({ error: ({ input }) => (input === undefined ? 'is needed: say why' : 'must be a string') })
  .check(
    z.minLength(1, 'must not be empty'),
    z.maxLength(500, 'must have at most 500 characters'),
    z.refine(
      (text) => !unreadable.test(text),
      'must not contain line breaks, invisible characters, or characters that turn text round',
    ),
  )

export const reasonBody = z.lazy(() => z.strictObject({ reason }))
export const optionalReasonBody = z.lazy(() => z.strictObject({ reason: z.exactOptional(reason) }))

const wholeFrom1To200 = z.string().check(z.regex(/^([1-9]\d?|1\d\d|200)$/, 'must be a whole number from 1 to 200'))

export const pageLimit = z.lazy(() => z.pipe(z._default(wholeFrom1To200, '50'), z.transform(Number)))

/** The ledger checks whether a cursor belongs to the list. */
export const pageCursor = z.lazy(() =>
  z
    .string()
    .check(z.minLength(1, 'must have 1 to 2000 characters'), z.maxLength(2_000, 'must have 1 to 2000 characters')),
)

export const monthWindow = z.lazy(() =>
  z
    .string()
    .check(z.regex(/^month:\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/, 'must be a month such as month:2026-11-12')),
)

const rfc3339 = /^(\d{4})-(\d\d)-(\d\d)T([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,9})?)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/

/** Date.parse would read 30 February as 2 March. */
function isInstant(text: string): boolean {
  const [, year, month, day] = rfc3339.exec(text) ?? []
  return (
    Number(day) <= new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate() && !Number.isNaN(Date.parse(text))
  )
}

const takesInstant = 'must be an RFC 3339 time such as 2026-11-20T09:00:00Z'
export const instant = z.lazy(() =>
  z.pipe(
    z.string(takesInstant).check(z.refine(isInstant, takesInstant)),
    z.transform((text) => Date.parse(text)),
  ),
)

/** Descriptions of members. They are apart from the schemas, because bundles contain the schemas. */
export type Texts = Readonly<Record<string, string | ((kinds: Kinds) => string)>>

export const commonTexts: Texts = {
  kind: (kinds) => `The kind of update: ${anyOf(namesOf(kinds).map((kind) => `\`${kind}\``))}.`,
  project: (kinds) =>
    `The project, as the service names it in its paths. A ${anyOf(kindsBy(kinds, 'id'))} update takes its identifier.`,
  budget: 'The budget.',
  reason: 'The reason. It is kept, and shown to readers.',
  caller: 'Who asked: the `sub` of a token, `schedule:<plan>` or `slack:<user id>`.',
  via: 'Where the request came from.',
  plan: 'The plan that asked.',
  since: 'Rows from this time on.',
  until: 'Before this time.',
  limit: 'The most rows on a page. A page with a `next` may be shorter.',
  cursor: 'The `next` of the page before.',
  window: 'A billing month, such as `month:2026-11-12`. Default: the open one.',
  next: 'Send it as `cursor` to get the next page. Absent on the last page.',
}
