import type { Context } from 'hono'
import { exactCostOf, inWhole, priceOn, type UnitPrices } from '../guard/money.ts'
import { problem } from '../guard/problems.ts'
import type { Charge } from '../guard/reports/charges.ts'
import { rootBudget } from '../ledger/book/definitions.ts'
import type { Window } from '../ledger/book/windows.ts'
import { toRfc3339 } from '../platform/clock.ts'
import { answerCsv, type Columns } from './csv.ts'
import type { FaceEnv } from './face.ts'
import { invalid, Refusal } from './refusal.ts'
import { noWindow } from './statements.ts'

export interface MonthOfCharges {
  readonly window: Window
  /** The ledger's id. */
  readonly account: string | undefined
  readonly charges: readonly Charge[]
}

/**
 * The month's charges in the columns of FOCUS 1.2.
 *
 * @see https://focus.finops.org/focus-specification/v1-2/
 * @throws Refusal 400, or 409 without a price in the settings.
 */
export async function answerFocus<E extends FaceEnv>(
  c: Context<E>,
  unitPrices: UnitPrices | null,
  { window, price }: { readonly window?: string | undefined; readonly price?: bigint | undefined },
  read: (window: string | null) => Promise<MonthOfCharges | null>,
): Promise<Response> {
  if (price !== undefined)
    throw invalid([{ path: 'price', message: 'does not go with format=focus, which takes the price of the settings' }])
  if (!unitPrices) throw new Refusal(noPrice)
  const month = await c.get('expensiveReads').inTurn(() => read(window ?? null))
  if (!month) throw noWindow(window)
  const name = `focus-${month.window.name.replace(':', '-')}`
  return answerCsv(c, name, columnsOf(month, unitPrices), async () => ({ rows: month.charges }), {
    isForPrograms: true,
  })
}

const noPrice = problem(
  'wrong-state',
  'FOCUS does not allow empty costs, and this guard does not know what a unit costs. Set PRICE_PER_UNIT and CURRENCY, and start it again.',
)

/** We do not know the vendor's name, and its address is shown to no one. */
const vendor = 'Tracking service'

/** FOCUS writes no fractions of a second. An empty cell is null. */
const time = (at: number): string => toRfc3339(at).replace('.000Z', 'Z')

function columnsOf({ window, account = rootBudget }: MonthOfCharges, unitPrices: UnitPrices) {
  const { currency } = unitPrices
  const priceOf = ({ day }: Charge) => priceOn(unitPrices, day) ?? { perUnit: 0n }
  const cost = (charge: Charge) => exactCostOf(charge.units, priceOf(charge).perUnit)
  const price = (charge: Charge) => inWhole(priceOf(charge))
  const quantity = ({ units }: Charge) => units
  const constant = (text: string) => () => text
  const sku = ({ of }: Charge) => of?.kind ?? 'outside'
  const budget = (row: Charge) => row.budget ?? ''
  return {
    BilledCost: cost,
    BillingAccountId: constant(account),
    BillingAccountName: constant(rootBudget),
    BillingAccountType: constant('Account'),
    BillingCurrency: constant(currency),
    BillingPeriodEnd: () => time(window.end),
    BillingPeriodStart: () => time(window.start),
    ChargeCategory: constant('Usage'),
    ChargeClass: ({ isLate }) => (isLate ? 'Correction' : ''),
    ChargeDescription: ({ of }) => (of ? `Units of ${of.kind} updates` : 'Units used outside Unit Guard, or corrected'),
    ChargeFrequency: constant('Usage-Based'),
    ChargePeriodEnd: ({ end }) => time(end),
    ChargePeriodStart: ({ start }) => time(start),
    // The public validator's rules for ConsumedQuantity read it.
    CommitmentDiscountStatus: constant(''),
    ConsumedQuantity: quantity,
    ConsumedUnit: constant('Units'),
    ContractedCost: cost,
    ContractedUnitPrice: price,
    EffectiveCost: cost,
    InvoiceId: constant(''),
    InvoiceIssuerName: constant(vendor),
    ListCost: cost,
    ListUnitPrice: price,
    PricingCategory: constant('Standard'),
    PricingQuantity: quantity,
    PricingUnit: constant('Units'),
    ProviderName: constant(vendor),
    PublisherName: constant(vendor),
    ResourceId: ({ of }) => of?.project.id ?? '',
    ResourceName: ({ of }) => of?.project.name ?? '',
    ResourceType: ({ of }) => (of ? 'Project' : ''),
    ServiceCategory: constant('Analytics'),
    ServiceName: constant('Search-ranking tracking'),
    ServiceSubcategory: constant('Other (Analytics)'),
    SkuId: sku,
    SkuMeter: ({ of }) => (of ? `Keyword units of ${of.kind}` : 'Keyword units'),
    SkuPriceDetails: constant(''),
    SkuPriceId: sku,
    SubAccountId: budget,
    SubAccountName: budget,
    SubAccountType: (row) => (row.budget === null ? '' : 'Budget'),
    Tags: ({ of }) => (of && Object.keys(of.tags).length > 0 ? JSON.stringify(of.tags) : ''),
    x_Caller: ({ of }) => of?.caller ?? '',
    x_Updates: ({ of }) => (of ? String(of.count) : ''),
  } satisfies Columns<Charge>
}
