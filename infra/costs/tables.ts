import { type Bill, type Payer, sum, times } from './bill.ts'
import { anHourOf, createFloods, edgeBill } from './floods.ts'
import { createMonthBills, fixedBills, type Month, projectsOfPlan } from './months.ts'
import type { PriceList } from './prices.ts'
import { createUpdateBills } from './updates.ts'
import { type Figures, toGb } from './usage.ts'

/** The first column names the row. */
export interface Table {
  readonly head: readonly string[]
  readonly rows: readonly (readonly string[])[]
}

export interface TableOptions {
  readonly figures: Figures
  readonly prices: PriceList
  readonly payer: Payer
  readonly cancelled: readonly number[]
  readonly months: readonly Omit<Month, 'cancelled'>[]
}

const perThousand = 1_000
const flood = 1_000_000
const planSizes = [1, projectsOfPlan, 500]

export const tablesOf = (options: TableOptions) => ({
  updates: () => updatesTable(options),
  idle: () => idleTable(options),
  months: () => monthsTable(options),
  flood: () => floodTable(options),
  options: () => optionsTable(options),
  prices: () => pricesTable(options.prices),
})

/** What a thousand updates of each way cost, with more and more cancelled transactions. */
function updatesTable({ figures, payer, cancelled }: TableOptions): Table {
  const { api, gateway, slack, plan } = createUpdateBills(figures)
  const ways: readonly (readonly [string, (share: number) => Bill])[] = [
    ['`POST /updates`', api],
    ['the gateway’s `run`', gateway],
    ['asked for and approved in Slack', slack],
    ...planSizes.map((size) => [`a plan of ${size}`, (share: number) => times(1 / size, plan(size, share))] as const),
  ]
  return {
    head: ['1,000 updates', 'write units', 'read units', 'Lambda, GB-s', ...cancelled.map(ofCancelled)],
    rows: ways.map(([name, billOf]) => {
      const { dynamoWriteUnits = 0, dynamoReadUnits = 0, lambdaGbSeconds = 0 } = times(perThousand, billOf(0))
      const used = [dynamoWriteUnits, dynamoReadUnits, lambdaGbSeconds].map(whole)
      return [name, ...used, ...cancelled.map((share) => usd(payer.cost(times(perThousand, billOf(share))), 3))]
    }),
  }
}

function idleTable({ figures, payer }: TableOptions): Table {
  const bills = fixedBills(figures)
  const { deployed, assumed } = figures
  const howMany: Record<string, string> = {
    'sweeps and digests': `every ${deployed.sweepMinutes} minutes, and a digest a day`,
    alarms: `${deployed.alarms} of ${deployed.alarmMetrics} metrics`,
    'metrics of its own': `${deployed.metrics}, and ${assumed['error-events']} by event`,
    dashboard: `${deployed.dashboards}`,
    secrets: `${deployed.secrets}, and their readings`,
  }
  return {
    head: ['a month without updates', 'how many', 'USD'],
    rows: [
      ...Object.entries(bills).map(([name, bill]) => [name, howMany[name] ?? '', usd(payer.cost(bill))]),
      ['**together**', '', `**${usd(payer.cost(sum(...Object.values(bills))))}**`],
      ['with the free tiers', '', usd(payer.costBeyondFree(sum(...Object.values(bills))))],
    ],
  }
}

function monthsTable({ figures, payer, months, cancelled }: TableOptions): Table {
  const billsOf = createMonthBills(figures)
  const [usual = 0, ...others] = cancelled
  const columns = months.map((month) => billsOf({ ...month, cancelled: usual }))
  const together = (share: number) =>
    months.map((month) => sum(...Object.values(billsOf({ ...month, cancelled: share }))))
  const costs = (bills: readonly Bill[]) => bills.map((bill) => usd(payer.cost(bill)))
  return {
    head: [
      'a month of',
      ...months.map(
        ({ updates, reads, pages }) => `${whole(updates)} updates, ${whole(reads)} reads, ${whole(pages)} pages`,
      ),
    ],
    rows: [
      ...Object.keys(columns[0] ?? {}).map((name) => [name, ...costs(columns.map((bills) => bills[name] ?? {}))]),
      ['**together**', ...costs(together(usual)).map((cost) => `**${cost}**`)],
      ['with the free tiers', ...together(usual).map((bill) => usd(payer.costBeyondFree(bill)))],
      ...others.map((share) => [ofCancelled(share), ...costs(together(share))]),
    ],
  }
}

function floodTable({ figures, payer }: TableOptions): Table {
  const concurrencies = [10, 1_000]
  const hours = concurrencies.map((count) => `an hour, ${whole(count)} calls at once`)
  return {
    head: ['requests without a token', 'a million', ...hours],
    rows: createFloods(figures).map((each) => [
      each.what,
      usd(payer.cost(times(flood, each.bill))),
      ...concurrencies.map((count) => (each.reachesLambda ? usd(payer.cost(anHourOf(each, count))) : '')),
    ]),
  }
}

function optionsTable({ figures, payer }: TableOptions): Table {
  const { 'answer-kb': answerKb } = figures.assumed
  const throughEdge = { wafRequests: 1, edgeRequests: 1, edgeOutGb: toGb(answerKb) }
  const rows: readonly (readonly [string, Bill])[] = [
    ['an edge, in a month without requests', edgeBill(figures)],
    [`a million requests through it, with answers of ${answerKb} KB`, times(flood, throughEdge)],
    ['an event target, in a month', { secrets: 1 }],
    ['a million events to a bus', { busEvents: flood }],
    ['a thousand e-mails of alarms', { alarmMails: perThousand }],
    ['a thousand dead letters, kept and read', { queueRequests: 3 * perThousand }],
  ]
  return { head: ['option', 'USD'], rows: rows.map(([name, bill]) => [name, usd(payer.cost(bill))]) }
}

const pricesTable = ({ regions, prices }: PriceList): Table => ({
  head: ['price', 'for', ...regions, 'free in a month', 'on', 'source'],
  rows: Object.values(prices).map(({ what, per, usd, free, date, source }) => [
    what,
    whole(per),
    ...regions.map((region) => String(usd[region] ?? '')),
    free === undefined ? '' : whole(free),
    date,
    `[${new URL(source).pathname.split('/')[1]}](${source})`,
  ]),
})

const ofCancelled = (share: number): string =>
  share === 0 ? 'USD' : `${Math.round(share * 100)} % of transactions cancelled`

const usd = (amount: number, digits = 2): string => amount.toFixed(digits)
const whole = (figure: number): string => Math.round(figure).toLocaleString('en-US')

export const markdown = ({ head, rows }: Table): string => {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}
