import * as z from 'zod/mini'
import { isUnits, maxUnits, type Units } from '../platform/words.ts'
import { anyOf, type Kinds, namesOf } from '../tracking/kinds.ts'

/** Pieces of schemas for what people write: the bodies and queries of the API, and the plans file. */

/** @param instead what to do with another number. */
export const wholeUnits = (from: 0 | 1, instead?: string) => {
  const takes = `takes a whole number of units, ${from} to ${maxUnits}${instead === undefined ? '' : `; ${instead}`}`
  const isInRange = (number: number) => isUnits(number) && number >= from && number <= maxUnits
  return z.pipe(
    z.number(takes).check(z.refine(isInRange, takes)),
    z.transform((number) => number as Units),
  )
}

export const units = wholeUnits(0)
export const someUnits = wholeUnits(1)

export const kindOf = (kinds: Kinds) => z.enum(namesOf(kinds), `takes ${anyOf(namesOf(kinds))}`)

const isProject = (text: string) =>
  /^[^\p{Cc}]{1,512}$/u.test(text) && text !== '.' && text !== '..' && text.isWellFormed()

/** Contract, "Resources". */
export const project = z
  .string('takes the name of a project')
  .check(z.refine(isProject, 'takes 1 to 512 characters, no control characters, and neither "." nor ".."'))

const shortName = z.regex(/^[a-z0-9][a-z0-9-]{0,62}$/, 'takes 1 to 63 of a-z, 0-9 and -, not beginning with -')

/** Contract, "Resources". */
export const budgetName = z.string('takes the name of a budget').check(shortName)

/** As a budget's: it is part of the name of an EventBridge rule, and of the caller `schedule:<plan>`. */
export const planName = z.string('takes the name of a plan').check(shortName)

const maxQueryNames = 20
const maxValueLength = 512

const queryName = z
  .string()
  .check(z.regex(/^[^\p{Cc}]{1,64}$/u, 'names have 1 to 64 characters, none of them a control character'))

const queryValue = z.pipe(
  z.union(
    [
      z
        .string()
        .check(
          z.minLength(1, 'must not be empty'),
          z.maxLength(maxValueLength, `takes at most ${maxValueLength} characters`),
        ),
      z.number(),
      z.boolean(),
    ],
    'takes a text, a number, true or false',
  ),
  z.transform(String),
)

/** What is sent to the service with `estimate` and `run`, identically. */
export const query = z
  .record(queryName, queryValue)
  .check(z.refine((query) => Object.keys(query).length <= maxQueryNames, `takes at most ${maxQueryNames} names`))
