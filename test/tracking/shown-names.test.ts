import { expect, test } from 'vitest'
import type { Json } from '../../shared/platform/json.ts'
import { readRun } from '../../shared/tracking/read-run.ts'
import { shapeOfText } from '../../shared/tracking/shape.ts'
import { signsIn } from '../../shared/tracking/signs.ts'
import { redactorOf } from '../../shared/tracking/transport.ts'

/** A JSON Pointer escapes both `/` and `~`. */
const token = 'canary/token~7f3a9c'
const redact = redactorOf(token)

const signOf = (document: Json) => signsIn(document, { call: 'run', names: [], well: [], redact })[0]?.text

test.each([
  ['in the middle of a name', `a ${token} b`, 'a [redacted] b'],
  ['with a hidden character in it', `${token.slice(0, 3)}\u200b${token.slice(3)}`, '[redacted]'],
  ['with a mark of direction in it', `${token.slice(0, 3)}\u202e${token.slice(3)}`, '[redacted]'],
])('a member of the service’s answer never shows the token: %s', (_case, name, shown) => {
  expect(signOf({ data: { [name]: { error: 'x' } } })).toBe(`error at /data/${shown}/error`)
  expect(shapeOfText(JSON.stringify({ [name]: 1 }), redact)).toBe(`{"${shown}": number}`)
  const body = Buffer.from(JSON.stringify({ [name]: { total: 48_210 } }))
  const read = readRun(
    { kind: 'answered', status: 200, headers: { 'content-type': 'application/json' }, body },
    { pointer: undefined, token },
  )
  expect(read).toMatchObject({ kind: 'ran', stated: { units: 48_210, source: `/${shown}/total` } })
})

test('a place with long names, a slash and a tilde is shown as a JSON Pointer with short names', () => {
  const long = 'n'.repeat(10_000)
  expect(signOf({ data: { 'a/b~c': { [long]: { error: 'x' } } } })).toBe(
    `error at /data/a~1b~0c/${'n'.repeat(39)}…/error`,
  )
})
