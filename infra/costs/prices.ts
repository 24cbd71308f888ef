import { readFileSync } from 'node:fs'
import * as z from 'zod/mini'

const priceSchema = z.strictObject({
  what: z.string(),
  /** How many of them the price is for. */
  per: z.number().check(z.positive()),
  usd: z.record(z.string(), z.number().check(z.nonnegative())),
  /** What each account gets in a month without paying. */
  free: z.optional(z.number().check(z.positive())),
  date: z.string().check(z.regex(/^\d{4}-\d\d-\d\d$/)),
  source: z.url(),
})

const fileSchema = z.strictObject({
  note: z.string(),
  regions: z.array(z.string()).check(z.minLength(1)),
  prices: z.record(z.string(), priceSchema),
})

const listPrices = new URL('./prices.json', import.meta.url)

export type Price = z.infer<typeof priceSchema>
export type PriceList = z.infer<typeof fileSchema>

export class WrongPrices extends Error {
  override readonly name = 'WrongPrices'
}

/**
 * The list of the repository, in which a file of the same form may replace prices and add regions.
 *
 * @throws WrongPrices
 */
export function readPrices(file?: string): PriceList {
  const list = parse(listPrices, 'prices.json')
  if (file === undefined) return list
  const own = parse(file, file)
  const unknown = Object.keys(own.prices).filter((name) => !Object.hasOwn(list.prices, name))
  if (unknown.length > 0) throw new WrongPrices(`${file} names prices that nothing uses: ${unknown.join(', ')}`)
  return { ...own, prices: { ...list.prices, ...own.prices } }
}

function parse(path: string | URL, name: string): PriceList {
  let content: unknown
  try {
    content = JSON.parse(readFileSync(path, 'utf8'))
  } catch (cause) {
    throw new WrongPrices(`${name} cannot be read: ${cause instanceof Error ? cause.message : cause}`, { cause })
  }
  const parsed = fileSchema.safeParse(content)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw new WrongPrices(`${name}: ${issue?.path.join('.')} ${issue?.message}`)
}
