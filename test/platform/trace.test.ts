import { describe, expect, test } from 'vitest'
import { readTraceparent } from '../../shared/platform/trace.ts'

const trace = '4bf92f3577b34da6a3ce929d0e0e4736'
const parent = '00f067aa0ba902b7'
const good = `00-${trace}-${parent}-01`

describe('the header traceparent of W3C Trace Context', () => {
  test.each([
    ['sampled', good, good],
    ['not sampled', `00-${trace}-${parent}-00`, `00-${trace}-${parent}-00`],
    ['with flags of later levels', `00-${trace}-${parent}-03`, `00-${trace}-${parent}-03`],
    ['of a later version', `cc-${trace}-${parent}-01`, good],
    ['of a later version with more fields', `cc-${trace}-${parent}-01-what-the-future-will-be-like`, good],
    ['of a later version with unknown flags', `fe-${trace}-${parent}-fe`, `00-${trace}-${parent}-00`],
  ])('the header traceparent is read: %s', (_name, header, read) => {
    expect(readTraceparent(header)).toBe(read)
  })

  test.each([
    ['absent', undefined],
    ['empty', ''],
    ['version ff', `ff-${trace}-${parent}-01`],
    ['a trace of zeros', `00-${'0'.repeat(32)}-${parent}-01`],
    ['a parent of zeros', `00-${trace}-${'0'.repeat(16)}-01`],
    ['upper case in the trace', `00-${trace.toUpperCase()}-${parent}-01`],
    ['upper case in the parent', `00-${trace}-${parent.toUpperCase()}-01`],
    ['upper case in the version', `CC-${trace}-${parent}-01`],
    ['too long for version 00', `${good}-01`],
    ['too long for version 00 by a dash', `${good}-`],
    ['too long without a dash', `cc-${trace}-${parent}-0101`],
    ['a long trace', `00-${trace}0-${parent}-01`],
    ['a short trace', `00-${trace.slice(1)}-${parent}-01`],
    ['a short parent', `00-${trace}-${parent.slice(1)}-01`],
    ['flags of one digit', `00-${trace}-${parent}-1`],
    ['flags that are no hexadecimal digits', `00-${trace}-${parent}-.0`],
    ['no version', `${trace}-${parent}-01`],
    ['underscores', `00_${trace}_${parent}_01`],
    ['a blank inside', `00-${trace}-${parent} -01`],
    ['two headers in one', `${good}, ${good}`],
    ['a line break after it', `${good}\n`],
  ])('the header traceparent is ignored: %s', (_name, header) => {
    expect(readTraceparent(header)).toBeUndefined()
  })
})
