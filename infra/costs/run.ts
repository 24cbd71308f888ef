import { costs, WrongUsage } from './costs.ts'
import { WrongPrices } from './prices.ts'

try {
  process.stdout.write(costs(process.argv.slice(2)))
} catch (error) {
  const isExpected = error instanceof WrongUsage || error instanceof WrongPrices
  process.stderr.write(`${isExpected ? error.message : (error as Error).stack}\n`)
  process.exitCode = error instanceof WrongUsage ? 2 : 1
}
