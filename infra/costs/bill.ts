import { type Price, type PriceList, WrongPrices } from './prices.ts'

/** How much of what is paid for, by the names in prices.json. */
export type Bill = Readonly<Record<string, number>>

export const sum = (...bills: readonly Bill[]): Bill => {
  const total: Record<string, number> = {}
  for (const bill of bills) for (const [name, amount] of Object.entries(bill)) total[name] = (total[name] ?? 0) + amount
  return total
}

export const times = (count: number, bill: Bill): Bill =>
  Object.fromEntries(Object.entries(bill).map(([name, amount]) => [name, count * amount]))

export interface Payer {
  /** In US dollars. */
  cost(bill: Bill): number
  /** Of an account that uses its free tiers for nothing else. */
  costBeyondFree(bill: Bill): number
}

/** @throws WrongPrices when a price is missing in the region. */
export function payerIn(region: string, { prices }: PriceList): Payer {
  const costOf = (bill: Bill, isFree: (price: Price) => number): number =>
    Object.entries(bill).reduce((total, [name, amount]) => {
      const price = prices[name]
      const usd = price?.usd[region]
      if (price === undefined || usd === undefined) throw new WrongPrices(`there is no price ${name} in ${region}`)
      return total + (Math.max(0, amount - isFree(price)) / price.per) * usd
    }, 0)
  return {
    cost: (bill) => costOf(bill, () => 0),
    costBeyondFree: (bill) => costOf(bill, ({ free = 0 }) => free),
  }
}
