import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'
import * as z from 'zod/mini'
import { type Clock, minuteMs } from '../platform/clock.ts'
import { type Ids, systemIds } from '../platform/ids.ts'
import { fromUtf8, parseStrictJson } from '../platform/json.ts'
import type { Secret } from '../platform/secrets.ts'
import { withAnyKey } from './caller-key.ts'

/** The readable members of a quote. The bearer of the quote knows them anyway. */
export interface QuoteTerms {
  readonly kind: string
  readonly project: string
  /** Absent: the default payer. */
  readonly budget?: string
  readonly query?: Readonly<Record<string, string>>
  readonly units: number
}

/** A quote is valid only with the same bonds. It holds only a tag of each bond, because not every caller may read who pays. */
export interface QuoteBonds {
  readonly caller: readonly [issuer: string | null, name: string]
  readonly ledger: readonly [id: string, epoch: number]
  readonly charge: {
    readonly works: readonly string[]
    readonly budget: string
    readonly owner: string | null
    /** The rule of `account` for a project that no budget lists. */
    readonly unowned: string | null
  }
}

export type Bond = keyof QuoteBonds

export interface ReadQuote extends QuoteTerms {
  /** 130 random bits. */
  readonly id: string
  readonly issuedAt: number
}

export interface VerifiedQuote {
  isBoundTo<Name extends Bond>(name: Name, bond: QuoteBonds[Name]): boolean
}

export const quoteLastsMs = 10 * minuteMs
/** The clocks of two processes differ by less than this. */
export const maxAheadMs = minuteMs
export const maxQuoteLength = 4_096

const label = 'unit-guard quote 1'
const tagBytes = 16
const idPattern = /^[0-9a-z]{26}$/
const tag = z.string().check(z.regex(/^[\w-]{22}$/))

const payload = z.strictObject({
  id: z.string().check(z.regex(idPattern)),
  at: z.int().check(z.gte(0)),
  kind: z.string(),
  project: z.string(),
  budget: z.exactOptional(z.string()),
  query: z.exactOptional(z.record(z.string(), z.string())),
  units: z.int().check(z.gte(0)),
  caller: tag,
  ledger: tag,
  charge: tag,
})

/**
 * Quotes in the form `<payload>.<signature>`, in base64url. The key is derived (HKDF, RFC 5869) from a secret of its
 * own, so that no other token of this product has the same signature.
 *
 * @throws SecretUnavailable
 */
export function createSignedQuotes({ key, clock, ids = systemIds }: { key: Secret; clock: Clock; ids?: Ids }) {
  /** `null`: the quote would be longer than `maxQuoteLength`. */
  async function issue(terms: QuoteTerms, bonds: QuoteBonds): Promise<string | null> {
    const signing = keyOf((await key.read()).current)
    const id = ids.random()
    const { kind, project, budget, query, units } = terms
    const body: z.output<typeof payload> = {
      id,
      at: clock.now(),
      kind,
      project,
      ...(budget !== undefined && { budget }),
      ...(query && { query }),
      units,
      caller: tagOf(signing, id, 'caller', bonds.caller),
      ledger: tagOf(signing, id, 'ledger', bonds.ledger),
      charge: tagOf(signing, id, 'charge', bonds.charge),
    }
    const text = Buffer.from(JSON.stringify(body)).toString('base64url')
    const quote = `${text}.${mac(signing, text).toString('base64url')}`
    return quote.length > maxQuoteLength ? null : quote
  }

  /** `null`: it was not signed here, or was altered. */
  async function verify(quote: string): Promise<VerifiedQuote | null> {
    const parts = partsOf(quote)
    if (!parts) return null
    const { id, ...tags } = parts.body
    const { text, signature } = parts
    return withAnyKey(key, await key.read(), async (secret) => {
      const signing = keyOf(secret)
      if (!isSame(mac(signing, text), signature)) return null
      return {
        isBoundTo: (name, bond) =>
          isSame(Buffer.from(tagOf(signing, id, name, bond), 'base64url'), Buffer.from(tags[name], 'base64url')),
      }
    })
  }

  return { issue, verify }
}

export type SignedQuotes = ReturnType<typeof createSignedQuotes>

/** Reads a quote without verifying it. `null`: not a quote, or spelled in another way. */
export function readQuote(quote: string): ReadQuote | null {
  const parts = partsOf(quote)
  if (!parts) return null
  const { id, at, kind, project, budget, query, units } = parts.body
  const optional = { ...(budget !== undefined && { budget }), ...(query && { query }) }
  return { id, issuedAt: at, kind, project, ...optional, units }
}

function partsOf(quote: string) {
  if (quote.length > maxQuoteLength) return null
  const [text = '', signed = '', ...more] = quote.split('.')
  const [bytes, signature] = [bytesOf(text), bytesOf(signed)]
  const json = bytes && fromUtf8(bytes, { keepsByteOrderMark: true })
  if (!json || !signature || more.length > 0) return null
  const read = parseStrictJson(json)
  const parsed = read.ok ? payload.safeParse(read.value) : null
  return parsed?.success ? { body: parsed.data, text, signature } : null
}

/** Refuses other spellings of the same bytes, because they would count as other quotes. */
function bytesOf(text: string): Buffer | null {
  const bytes = Buffer.from(text, 'base64url')
  return bytes.toString('base64url') === text ? bytes : null
}

const keyOf = (secret: string): Buffer => Buffer.from(hkdfSync('sha256', secret, '', label, 32))

const mac = (key: Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest()

/** A tag depends on the id, so that equal payers have different tags. */
const tagOf = <Name extends Bond>(key: Buffer, id: string, name: Name, bond: QuoteBonds[Name]): string =>
  mac(key, JSON.stringify([name, id, ordered(bond)]))
    .subarray(0, tagBytes)
    .toString('base64url')

const ordered = (bond: QuoteBonds[Bond]): unknown =>
  'works' in bond ? [bond.works.toSorted(), bond.budget, bond.owner, bond.unowned] : bond

const isSame = (one: Buffer, other: Buffer): boolean => one.length === other.length && timingSafeEqual(one, other)
