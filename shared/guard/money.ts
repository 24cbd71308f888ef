import * as z from 'zod/mini'
import { matching, WrongSettings } from '../platform/settings.ts'

/** Millionths, so that no sum is rounded early. */
export const perWhole = 1_000_000

/** A decimal, with a point or a comma. */
export const pricePerUnit = z.pipe(
  matching(/^\d{1,6}([.,]\d{1,6})?$/, 'must be a price for one unit, such as 0.012'),
  z.transform((text) => BigInt(Math.round(Number(text.replace(',', '.')) * perWhole))),
)

export interface UnitPrice {
  readonly perUnit: bigint
  readonly currency: string
}

const isCurrency = (text: string): boolean => Intl.supportedValuesOf('currency').includes(text)

const currencyTakes = 'must be a currency of ISO 4217, such as EUR'

export const moneySettings = z.object({
  PRICE_PER_UNIT: z.optional(pricePerUnit),
  CURRENCY: z.optional(z.string(currencyTakes).check(z.refine(isCurrency, currencyTakes))),
})

/** @throws WrongSettings if one is set without the other. */
export function unitPriceOf({ PRICE_PER_UNIT: perUnit, CURRENCY: currency }: z.output<typeof moneySettings>) {
  if (perUnit === undefined && currency === undefined) return null
  if (perUnit !== undefined && currency !== undefined) return { perUnit, currency } satisfies UnitPrice
  const [missing, given] = perUnit === undefined ? ['PRICE_PER_UNIT', 'CURRENCY'] : ['CURRENCY', 'PRICE_PER_UNIT']
  throw new WrongSettings(`${missing}: must be set too, because ${given} is`)
}

/** Rounded to the cent; half a cent rounds up. */
export function costOf(units: number, perUnit: bigint): number {
  const cents = (BigInt(Math.abs(units)) * perUnit + 5_000n) / 10_000n
  return (Math.sign(units) * Number(cents)) / 100
}

/** Not rounded, so that prices times units are the cost. */
export const exactCostOf = (units: number, perUnit: bigint): number => Number(BigInt(units) * perUnit) / perWhole

/** `23.04 EUR` */
export const inMoney = (units: number, { perUnit, currency }: UnitPrice): string =>
  `${costOf(units, perUnit).toFixed(2)} ${currency}`
