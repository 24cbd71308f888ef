import * as z from 'zod/mini'
import { isUnits, maxUnits, shortName as shortNamePattern, type Units } from '../platform/words.ts'
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

export const subject = z
  .string('must be the name of a caller')
  .check(z.regex(/^(?!__proto__$)[\x21\x22\x24-\x7e]{1,256}$/, 'must have 1 to 256 visible characters without #'))

export const flag = z.boolean('must be true or false')

export const once = <Row>(keyOf: (row: Row) => unknown, message: string) =>
  z.refine<readonly Row[]>((rows) => new Set(rows.map(keyOf)).size === rows.length, message)

export const kindOf = (kinds: Kinds) => z.enum(namesOf(kinds), `must be ${anyOf(namesOf(kinds))}`)

const isProject = (text: string) =>
  /^[^\p{Cc}]{1,512}$/u.test(text) && text !== '.' && text !== '..' && text.isWellFormed()

export const project = z
  .string('must be the name of a project')
  .check(z.refine(isProject, 'must have 1 to 512 characters, no control characters, and neither "." nor ".."'))

const shortName = z.regex(shortNamePattern, 'must have 1 to 63 of a-z, 0-9 and -, not beginning with -')

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
