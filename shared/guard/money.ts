import * as z from 'zod/mini'
import { WrongSettings } from '../platform/settings.ts'

/** Prices are in millionths, so that no sum is rounded early. */
export const perWhole = 1_000_000

/** The price of a unit from a day on. */
export interface Price {
  readonly perUnit: bigint
  /** The first day, such as `2026-12-01`. Absent: the price holds on every day. */
  readonly from?: string
}

export interface UnitPrices {
  /** The price with the earliest day comes first. */
  readonly prices: readonly Price[]
  readonly currency: string
}

/** Units by price, so that a cost over several prices is rounded only once. */
export type UnitsAtPrices = ReadonlyMap<Price, number>

const decimal = /^\d{1,6}([.,]\d{1,6})?$/

const toMillionths = (text: string): bigint => BigInt(Math.round(Number(text.replace(',', '.')) * perWhole))

const takesPrice = 'must be a price for one unit, such as 0.012'

/** A decimal, with a point or a comma. */
export const pricePerUnit = z.pipe(z.string(takesPrice).check(z.regex(decimal, takesPrice)), z.transform(toMillionths))

const maxPrices = 50

const example = '0.01@2025-01-01,0.012@2026-12-01'
const takesPrices = `${takesPrice}, or prices with their first days, such as ${example}`
const takesDays = `each price of a list must have its first day and a decimal point, because a comma separates prices: ${example}`

const priceList = z.pipe(
  z.string(takesPrices),
  z.transform((text, { issues }): readonly Price[] => {
    const faultOf = (message: string) => {
      issues.push({ code: 'custom', message, input: text })
      return []
    }
    if (decimal.test(text)) return [{ perUnit: toMillionths(text) }]
    if (!text.includes('@')) return faultOf(takesPrices)
    const parts = text.split(',').map((part) => part.trim())
    if (parts.some((part) => !part.includes('@'))) return faultOf(takesDays)
    const prices = parts.map(toPrice)
    if (!prices.every((price) => price !== null)) return faultOf(takesPrices)
    if (prices.length > maxPrices) return faultOf(`must have at most ${maxPrices} prices`)
    const isAscending = prices.every(({ from }, index) => index === 0 || from > (prices[index - 1]?.from ?? ''))
    return isAscending ? prices : faultOf('must name each first day once, the earliest first')
  }),
)

function toPrice(text: string): (Price & { readonly from: string }) | null {
  const [, perUnit = '', from = ''] = /^(\d{1,6}(?:\.\d{1,6})?)@(\d{4}-\d{2}-\d{2})$/.exec(text) ?? []
  const day = Date.parse(`${from}T00:00Z`)
  // Not every engine refuses 30 February.
  const isDay = !Number.isNaN(day) && new Date(day).toISOString().startsWith(from)
  return isDay ? { perUnit: toMillionths(perUnit), from } : null
}

const isCurrency = (text: string): boolean => Intl.supportedValuesOf('currency').includes(text)

const currencyTakes = 'must be a currency of ISO 4217, such as EUR'

export const moneySettings = z.object({
  PRICE_PER_UNIT: z.optional(priceList),
  CURRENCY: z.optional(z.string(currencyTakes).check(z.refine(isCurrency, currencyTakes))),
})

/** @throws WrongSettings if only the price or only the currency is set. */
export function unitPricesOf({ PRICE_PER_UNIT: prices, CURRENCY: currency }: z.output<typeof moneySettings>) {
  if (prices === undefined && currency === undefined) return null
  if (prices !== undefined && currency !== undefined) return { prices, currency } satisfies UnitPrices
  const [missing, given] = prices === undefined ? ['PRICE_PER_UNIT', 'CURRENCY'] : ['CURRENCY', 'PRICE_PER_UNIT']
  throw new WrongSettings(`${missing}: must be set too, because ${given} is`)
}

/** @param day as `day:2026-12-01`, in the account's zone. `undefined`: before the first price. */
export const priceOn = (unitPrices: UnitPrices | null, day: string): Price | undefined =>
  unitPrices?.prices.findLast(({ from = '' }) => from <= day.slice('day:'.length))

export const atPrice = (price: Price | undefined, units: number): UnitsAtPrices =>
  new Map(price === undefined ? [] : [[price, units]])

export function addAtPrices(a: UnitsAtPrices, b: UnitsAtPrices): UnitsAtPrices {
  const sum = new Map(a)
  for (const [price, units] of b) sum.set(price, (sum.get(price) ?? 0) + units)
  return sum
}

/** Rounded to the cent; half a cent rounds up. */
export function costOf(units: UnitsAtPrices): number {
  const exact = [...units].reduce((sum, [{ perUnit }, each]) => sum + BigInt(each) * perUnit, 0n)
  const cents = ((exact < 0n ? -exact : exact) + 5_000n) / 10_000n
  return Number(exact < 0n ? -cents : cents) / 100
}

/** `0.012` */
export const inWhole = ({ perUnit }: Price): number => Number(perUnit) / perWhole

/** `23.04 EUR`. `null`: no unit has a price. */
export const inMoney = (units: UnitsAtPrices, currency: string): string | null =>
  units.size === 0 ? null : `${costOf(units).toFixed(2)} ${currency}`
