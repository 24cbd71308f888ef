import { createHmac } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { isSigned } from '../../shared/slack/receive/signature.ts'

/** The example of https://docs.slack.dev/authentication/verifying-requests-from-slack */
const secret = '8f742231b10e8888abcd99yyyzzz85a5'
const timestamp = '1531420618'
const body =
  'token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c'
const signature = 'v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503'

const seconds = (count: number) => (1_531_420_618 + count) * 1000
const rawBody = new TextEncoder().encode(body)
const example = { secret, timestamp, signature, rawBody, now: seconds(0) }

/** A signature that fits any header, so that only the header's form can be a reason to refuse. */
const signedAt = (text: string, at = rawBody) => ({
  timestamp: text,
  signature: `v0=${createHmac('sha256', secret).update(`v0:${text}:`).update(at).digest('hex')}`,
})

test("Slack's own example is signed", () => {
  expect(isSigned(example)).toBe(true)
})

describe('the time of a signed request', () => {
  test.each([
    [0, true],
    [299, true],
    [300, true],
    [301, false],
    [3600, false],
    [-300, true],
    [-301, false],
    [-86_400, false],
  ])('a request %d seconds after its time is accepted: %s', (later, expected) => {
    expect(isSigned({ ...example, now: seconds(later) })).toBe(expected)
  })

  test('the milliseconds of our clock are ignored', () => {
    expect(isSigned({ ...example, now: seconds(300) + 999 })).toBe(true)
  })

  test('an invalid clock accepts no request', () => {
    expect(isSigned({ ...example, now: Number.NaN })).toBe(false)
  })
})

describe('the form of a timestamp', () => {
  test.each([
    '',
    'NaN',
    'Infinity',
    '-1531420618',
    '+1531420618',
    '1531420618.0',
    '1.531420618e9',
    '0x5b479c0a',
    ' 1531420618',
    '1531420618 ',
    '1531420618\n',
    '1531420618,1531420618',
    '١٥٣١٤٢٠٦١٨',
    '1531420618000000',
  ])('the timestamp %j is refused, even if it is signed', (text) => {
    expect(isSigned({ ...example, ...signedAt(text) })).toBe(false)
  })

  test('leading zeros of a timestamp are accepted', () => {
    expect(isSigned({ ...example, ...signedAt('001531420618') })).toBe(true)
  })

  test.each([undefined, null])('the timestamp %s is refused', (missing) => {
    expect(isSigned({ ...example, timestamp: missing })).toBe(false)
  })
})

describe('the form of a signature', () => {
  test.each<[string, string | null | undefined]>([
    ['missing', undefined],
    ['null', null],
    ['empty', ''],
    ['the version alone', 'v0='],
    ['short', signature.slice(0, -1)],
    ['an odd length', signature.slice(0, -3)],
    ['long', `${signature}0`],
    ['with a line end', `${signature}\n`],
    ['upper case', signature.toUpperCase()],
    ['upper-case digits', `v0=${signature.slice(3).toUpperCase()}`],
    ['another version', signature.replace('v0', 'v1')],
    ['without a version', signature.slice(3)],
    ['no hex', `v0=${'g'.repeat(64)}`],
    ['two of them', `${signature},${signature}`],
    ['of another body', signature.replace('a2', 'a3')],
    ['zeros', `v0=${'0'.repeat(64)}`],
  ])('a signature that is %s is refused', (_name, odd) => {
    expect(isSigned({ ...example, signature: odd })).toBe(false)
  })
})

describe('the signed bytes', () => {
  test('another secret does not verify a signature, and an empty one never does', () => {
    expect(isSigned({ ...example, secret: `${secret}0` })).toBe(false)
    const empty = createHmac('sha256', '').update(`v0:${timestamp}:`).update(rawBody).digest('hex')
    expect(isSigned({ ...example, secret: '', signature: `v0=${empty}` })).toBe(false)
  })

  test('one changed byte of the body is refused', () => {
    const changed = new TextEncoder().encode(body.replace('roadrunner', 'roadrunnes'))
    expect(isSigned({ ...example, rawBody: changed })).toBe(false)
    expect(isSigned({ ...example, rawBody: new Uint8Array() })).toBe(false)
  })

  test('a timestamp that was moved into the body is refused', () => {
    expect(isSigned({ ...example, timestamp: '153142061', rawBody: new TextEncoder().encode(`8:${body}`) })).toBe(false)
  })

  test('bytes that are not UTF-8 are signed unchanged', () => {
    const bytes = Uint8Array.of(0x74, 0x3d, 0xff, 0xfe, 0x00, 0xc3)
    const other = Uint8Array.of(0x74, 0x3d, 0xef, 0xbf, 0xbd, 0xc3)
    expect(isSigned({ ...example, ...signedAt(timestamp, bytes), rawBody: bytes })).toBe(true)
    expect(isSigned({ ...example, ...signedAt(timestamp, bytes), rawBody: other })).toBe(false)
  })
})
