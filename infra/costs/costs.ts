import { type ParseArgsConfig, parseArgs } from 'node:util'
import { stringify } from 'csv-stringify/sync'
import { assumed, assumptions } from './assumptions.ts'
import { payerIn } from './bill.ts'
import { writeSections } from './document.ts'
import { measuredRequests } from './measured.ts'
import { readPrices } from './prices.ts'
import { markdown, type Table, tablesOf } from './tables.ts'
import { readDeployed } from './template.ts'

const usualRegion = 'us-east-1'
const usualShares = [0, 0.1, 0.5]
const usualMonths = [
  { updates: 1_000, reads: 10_000, pages: 1_000 },
  { updates: 20_000, reads: 200_000, pages: 5_000 },
  { updates: 200_000, reads: 2_000_000, pages: 20_000 },
]

export class WrongUsage extends Error {
  override readonly name = 'WrongUsage'
}

const names = ['updates', 'idle', 'months', 'flood', 'options', 'prices'] as const
const monthFlags = ['updates', 'reads', 'pages'] as const

const flags = {
  region: { type: 'string' },
  prices: { type: 'string' },
  template: { type: 'string', multiple: true },
  cancelled: { type: 'string' },
  csv: { type: 'boolean' },
  write: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
  ...Object.fromEntries(
    [...monthFlags, ...Object.keys(assumptions)].map((name) => [name, { type: 'string' as const }]),
  ),
} satisfies ParseArgsConfig['options']

const usage = `npm run costs [-- <table>… [--region <region>] [--prices <file>] [--template <file>…] [--<figure> <number>…]]

What Unit Guard costs on AWS: computed from the list prices in infra/costs/prices.json, the requests to DynamoDB that
npm run bench counted, and the deployment's template. Nothing is asked of AWS.

tables: ${names.join(', ')}
--region <region>    ${usualRegion} without it
--prices <file>      prices of your own, in the form of infra/costs/prices.json
--template <file>    your template, such as cdk.out/UnitGuard.template.json; several add up
--updates, --reads, --pages <number>   a month of your own: updates, reads through the gateway, pages of the dashboard
--cancelled <share>  of transactions that are cancelled and sent again, from 0 to below 1; ${usualShares.join(', ')} without it
--csv                for a spreadsheet
--write              writes the tables into docs/costs.md, without figures of your own
--help               print this

figures that were not measured on AWS:
${Object.entries(assumptions)
  .map(([name, [figure, what]]) => `${`--${name} <number>`.padEnd(28)}${figure}: ${what}`)
  .join('\n')}
`

/** What the command prints. @throws WrongUsage, WrongPrices */
export function costs(args: readonly string[]): string {
  const { values, positionals } = readArguments(args)
  const { help, csv, write, region = usualRegion, template, prices: file, ...given } = values
  if (help) return usage
  const unknown = positionals.filter((name) => !(names as readonly string[]).includes(name))
  if (unknown.length > 0) throw new WrongUsage(`there is no table ${unknown.join(', ')}`)
  if (write && Object.keys(values).length > 1) throw new WrongUsage('--write takes no figures of your own')
  const { cancelled, updates, reads = 0, pages = 0, ...own } = numbersIn(given)
  if (cancelled !== undefined && cancelled >= 1) throw new WrongUsage('--cancelled must be below 1')
  const prices = readPrices(file)
  const tables = tablesOf({
    figures: { asked: measuredRequests(), deployed: readDeployed(template), assumed: assumed(own) },
    prices,
    payer: payerIn(region, prices),
    cancelled: cancelled === undefined ? usualShares : [cancelled],
    months: updates === undefined ? usualMonths : [{ updates, reads, pages }],
  })
  const wanted = names.filter((name) => positionals.length === 0 || positionals.includes(name))
  if (csv) return stringify(wanted.flatMap((name) => cellsOf(name, tables[name]())))
  const texts = Object.fromEntries(wanted.map((name) => [name, markdown(tables[name]())]))
  if (write) writeSections(texts)
  return `${prices.note} In ${region}.\n\n${Object.values(texts).join('\n\n')}\n`
}

function readArguments(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], allowPositionals: true, options: flags })
  } catch (error) {
    throw new WrongUsage((error as Error).message)
  }
}

const numbersIn = (given: Readonly<Record<string, unknown>>): Readonly<Partial<Record<string, number>>> =>
  Object.fromEntries(
    Object.entries(given).map(([name, text]) => {
      const figure = Number(text)
      if (text === '' || !Number.isFinite(figure) || figure < 0)
        throw new WrongUsage(`--${name} must be a number from 0`)
      return [name, figure]
    }),
  )

/** A line for each cell. */
function cellsOf(name: string, { head, rows }: Table): string[][] {
  const [, ...columns] = head
  return rows.flatMap(([row = '', ...cells]) => cells.map((cell, index) => [name, row, columns[index] ?? '', cell]))
}
