import * as z from 'zod/mini'
import type { Tags } from '../ledger/updates/update.ts'

const maxTags = 5
export const tagKeyPattern = /^[a-z][a-z0-9_.-]{0,31}$/
/** Lone surrogates are not Unicode. */
const valuePattern = /^[^\p{Cc}\p{Cs}]{1,64}$/u

const takesKey = 'keys have 1 to 32 of a-z, 0-9, _, . and -, and begin with a letter'
const takesValue = 'must have 1 to 64 characters, none of them a control character'
const takesFew = `must have at most ${maxTags} tags`

const tagKey = z.lazy(() => z.string().check(z.regex(tagKeyPattern, takesKey)))
const tagValue = z.lazy(() =>
  z.string('must be a string').check(z.refine((text) => valuePattern.test(text), takesValue)),
)

/** An empty object is valid, because every tag is optional. */
export const tags = z.lazy(() =>
  z.record(tagKey, tagValue).check(z.refine((tags) => Object.keys(tags).length <= maxTags, takesFew)),
)

export type ReadTags = { readonly tags: Tags } | { readonly fault: string }

/** Reads texts such as `client=acme`. */
export function readTags(
  texts: readonly string[],
  decode: (value: string) => string | null = (value) => value,
): ReadTags {
  const found = new Map<string, string>()
  for (const text of texts) {
    const [key = ''] = text.split('=', 1)
    const value = key === text ? null : decode(text.slice(key.length + 1))
    const fault = value === null ? 'each tag must be written as key=value' : faultOf(key, value)
    if (fault !== null || value === null) return { fault: fault ?? '' }
    if (found.has(key)) return { fault: `${key} is named twice` }
    found.set(key, value)
  }
  return found.size > maxTags ? { fault: takesFew } : { tags: Object.fromEntries(found) }
}

function faultOf(key: string, value: string): string | null {
  if (!tagKeyPattern.test(key)) return takesKey
  return valuePattern.test(value) ? null : `the value of ${key} ${takesValue}`
}

const takesCriterion = 'must be a tag as key:value, such as client:acme'

/** A tag as a filter, `key:value`. The value may have colons. */
export const tagCriterion = z.lazy(() =>
  z.string(takesCriterion).check(
    z.refine((text) => {
      const [key = ''] = text.split(':', 1)
      return tagKeyPattern.test(key) && valuePattern.test(text.slice(key.length + 1))
    }, takesCriterion),
  ),
)

export const tagCriteria = z.lazy(() => z.array(tagCriterion).check(z.maxLength(maxTags, takesFew)))
