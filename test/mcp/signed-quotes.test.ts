import { createHmac, hkdfSync } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createSignedQuotes, maxQuoteLength, type QuoteBonds, readQuote } from '../../shared/auth/signed-quotes.ts'
import { createTestClock } from '../support/clock.ts'

const terms = { kind: 'ranking', project: 'café & co', budget: 'acme', query: { depth: '10' }, units: 40 }
const bonds: QuoteBonds = {
  caller: ['okta', 'okta:ada'],
  ledger: ['led_1', 0],
  charge: { works: ['work#b', 'work#a'], budget: 'acme', owner: 'press', unowned: null },
}

function start({ current = 'first', previous = null as string | null } = {}) {
  const value = { current, previous }
  const clock = createTestClock()
  const key = { read: async () => ({ ...value }), reread: async () => ({ ...value }) }
  return { quotes: createSignedQuotes({ key, clock }), value, clock }
}

/** The order of works does not count. */
function isEqual(one: QuoteBonds[keyof QuoteBonds], other: QuoteBonds[keyof QuoteBonds]): boolean {
  const inOrder = (of: typeof one) => ('works' in of ? { ...of, works: of.works.toSorted() } : of)
  return isDeepStrictEqual(inOrder(one), inOrder(other))
}

const issued = async (from = start()) => (await from.quotes.issue(terms, bonds)) ?? ''
const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

describe('a signed quote', () => {
  test('a quote reads as it was issued, and is bound to the values for which it was issued', async () => {
    const from = start()
    const quote = await issued(from)
    const at = Date.parse('2026-11-20T10:00:00Z')
    expect(readQuote(quote)).toEqual({ ...terms, id: expect.stringMatching(/^[0-9a-z]{26}$/), issuedAt: at })
    const verified = await from.quotes.verify(quote)
    expect(verified?.isBoundTo('caller', bonds.caller)).toBe(true)
    expect(verified?.isBoundTo('ledger', bonds.ledger)).toBe(true)
    expect(verified?.isBoundTo('charge', { ...bonds.charge, works: ['work#a', 'work#b'] })).toBe(true)
  })

  test.each<[string, keyof QuoteBonds, QuoteBonds[keyof QuoteBonds]]>([
    ['another issuer', 'caller', [null, 'okta:ada']],
    ['another caller', 'caller', ['okta', 'okta:bob']],
    ['another ledger', 'ledger', ['led_2', 0]],
    ['a restored ledger', 'ledger', ['led_1', 1]],
    ['other works', 'charge', { ...bonds.charge, works: ['work#a'] }],
    ['another payer', 'charge', { ...bonds.charge, budget: 'press' }],
    ['another owner', 'charge', { ...bonds.charge, owner: null }],
    ['another rule', 'charge', { ...bonds.charge, unowned: 'approve' }],
  ])('a quote is not bound to %s', async (_, name, other) => {
    const from = start()
    const verified = await from.quotes.verify(await issued(from))
    expect(verified?.isBoundTo(name, other as never)).toBe(false)
  })

  test('a quote is bound to each part of what it was issued for, in its own place', async () => {
    const [name, optional] = [fc.constantFrom('a', 'b', 'a,b'), fc.constantFrom('a', 'b', null)]
    const anyBonds = fc.record({
      caller: fc.tuple(optional, name),
      ledger: fc.tuple(name, fc.nat(2)),
      charge: fc.record({
        works: fc.uniqueArray(name, { minLength: 1 }),
        budget: name,
        owner: optional,
        unowned: optional,
      }),
    })
    const from = start()
    await fc.assert(
      fc.asyncProperty(anyBonds, anyBonds, async (one, other) => {
        const verified = await from.quotes.verify((await from.quotes.issue(terms, one)) ?? '')
        for (const bond of ['caller', 'ledger', 'charge'] as const) {
          expect(verified?.isBoundTo(bond, other[bond]), bond).toBe(isEqual(one[bond], other[bond]))
          expect(verified?.isBoundTo(bond, one[bond]), bond).toBe(true)
        }
      }),
      { numRuns: 300 },
    )
  })

  test('equal bonds have other tags in each quote, and under each name', async () => {
    const from = start()
    const same = { caller: ['a', 'b'], ledger: ['a', 'b'], charge: ['a', 'b'] } as never
    const tags: string[] = []
    for (const _ of [1, 2]) {
      const quote = (await from.quotes.issue(terms, same)) ?? ''
      const { caller, ledger, charge } = JSON.parse(Buffer.from(quote.split('.')[0] ?? '', 'base64url').toString())
      tags.push(caller, ledger, charge)
    }
    expect(new Set(tags).size).toBe(6)
  })

  test('a quote contains no name of a payer, an owner or a caller', async () => {
    const text = Buffer.from((await issued()).split('.')[0] ?? '', 'base64url').toString()
    expect(text).not.toMatch(/press|ada|okta|led_|work#/)
  })

  test('a quote is refused with any character changed, removed or doubled', async () => {
    const from = start()
    const quote = await issued(from)
    for (const [at, character] of [...quote].entries()) {
      const next = alphabet[(alphabet.indexOf(character) + 1) % alphabet.length] ?? ''
      for (const instead of [next, '', character + character]) {
        const altered = quote.slice(0, at) + instead + quote.slice(at + 1)
        expect(await from.quotes.verify(altered), `${at} ${instead}`).toBeNull()
      }
    }
  })

  test.each<[string, (quote: string) => string]>([
    ['padding', (quote) => `${quote}=`],
    ['padding inside', (quote) => quote.replace('.', '=.')],
    ['a blank', (quote) => `${quote} `],
    ['another part', (quote) => `${quote}.`],
    ['the alphabet of base64', (quote) => quote.replaceAll('-', '+').replaceAll('_', '/')],
    ['unused bits set', (quote) => quote.slice(0, -1) + alphabet[alphabet.indexOf(quote.at(-1) ?? '') | 1]],
    [
      'another order of members',
      (quote) =>
        withPayload(quote, (text) =>
          text.replace(/^\{("id":"\w+"),/, '{').replace(/\}$/, `,${/"id":"\w+"/.exec(text)}}`),
        ),
    ],
    ['a blank in its JSON', (quote) => withPayload(quote, (text) => `${text} `)],
    ['a repeated member', (quote) => withPayload(quote, (text) => text.replace('{', '{"units":1,'))],
    ['an unknown member', (quote) => withPayload(quote, (text) => text.replace('{', '{"force":true,'))],
    ['more than 4 KB', (quote) => 'A'.repeat(maxQuoteLength) + quote],
    ['nothing', () => ''],
  ])('a quote is refused if it is written with %s', async (_, spell) => {
    const from = start()
    // In the other alphabet, a quote without these characters looks the same.
    const quotes = await Promise.all(Array.from({ length: 20 }, () => issued(from)))
    const quote = quotes.find((each) => spell(each) !== each) ?? ''
    expect(quote).not.toBe('')
    expect(await from.quotes.verify(spell(quote))).toBeNull()
  })

  test('a quote is accepted with the previous key, and refused after two rotations', async () => {
    const from = start()
    const quote = await issued(from)
    Object.assign(from.value, { current: 'second', previous: 'first' })
    expect((await from.quotes.verify(quote))?.isBoundTo('caller', bonds.caller)).toBe(true)
    Object.assign(from.value, { current: 'third', previous: 'second' })
    expect(await from.quotes.verify(quote)).toBeNull()
  })

  test('a quote is signed with a key that HKDF derives from the secret under a label of its own', async () => {
    const [text = '', signature] = (await issued()).split('.')
    expect(signed(Buffer.from(text, 'base64url'))).toBe(`${text}.${signature}`)
    expect(createHmac('sha256', 'first').update(text).digest('base64url')).not.toBe(signature)
  })

  test('a quote over 4 KB is refused, even with a valid signature', async () => {
    const { quotes } = start()
    const [text = ''] = (await issued()).split('.')
    const json = Buffer.from(text, 'base64url').toString()
    const ofLength = (length: number) =>
      signed(Buffer.from(json.replace('"depth":"10"', `"depth":"${'1'.repeat(length)}"`)))
    const fits =
      Array.from({ length: 4_000 }, (_, at) => at).findLast((at) => ofLength(at).length <= maxQuoteLength) ?? 0
    expect(ofLength(fits)).toHaveLength(4_096)
    expect(await quotes.verify(ofLength(fits))).not.toBeNull()
    expect(await quotes.verify(ofLength(fits + 1))).toBeNull()
  })

  test('a quote with a byte order mark is refused, even with a valid signature', async () => {
    const bytes = Buffer.from((await issued()).split('.')[0] ?? '', 'base64url')
    const marked = signed(Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), bytes]))
    expect(await start().quotes.verify(marked)).toBeNull()
    expect(readQuote(marked)).toBeNull()
  })

  test('a quote is not issued if it would exceed 4 KB', async () => {
    const query = Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`name${at}`, 'v'.repeat(512)]))
    expect(await start().quotes.issue({ ...terms, query }, bonds)).toBeNull()
  })

  test('a quote has no payer and no parameters if the estimate had neither', async () => {
    const { kind, project, units } = terms
    const quote = (await start().quotes.issue({ kind, project, units }, bonds)) ?? ''
    const read = { id: expect.any(String), issuedAt: expect.any(Number), kind, project, units }
    expect(readQuote(quote)).toStrictEqual(read)
    expect(readQuote('no quote')).toBeNull()
  })

  test('each quote has its own id', async () => {
    const from = start()
    const ids = await Promise.all(Array.from({ length: 50 }, async () => readQuote(await issued(from))?.id))
    expect(new Set(ids).size).toBe(50)
  })
})

/** Computed without the code under test (RFC 5869 and RFC 2104). */
function signed(bytes: Buffer): string {
  const key = Buffer.from(hkdfSync('sha256', 'first', '', 'unit-guard quote 1', 32))
  const text = bytes.toString('base64url')
  return `${text}.${createHmac('sha256', key).update(text).digest('base64url')}`
}

function withPayload(quote: string, change: (text: string) => string): string {
  const [payload = '', signature = ''] = quote.split('.')
  return `${Buffer.from(change(Buffer.from(payload, 'base64url').toString())).toString('base64url')}.${signature}`
}
