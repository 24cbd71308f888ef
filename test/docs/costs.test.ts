import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { costs } from '../../infra/costs/costs.ts'
import { writtenSection } from '../../infra/costs/document.ts'

const names = ['updates', 'idle', 'months', 'flood', 'options', 'prices']
const list = JSON.parse(readFileSync('infra/costs/prices.json', 'utf8'))
const amounts: string[] = Object.values<{ usd: Record<string, number> }>(list.prices).flatMap(({ usd }) =>
  Object.values(usd).map(String),
)

/** The cells of a table by row and column. */
const cellsOf = (args: readonly string[]) =>
  new Map(
    costs([...args, '--csv'])
      .trim()
      .split('\n')
      .map((line) => {
        const cells = [...line.matchAll(/("(?:[^"]|"")*"|[^,]*)(?:,|$)/g)].map(([, cell = '']) =>
          cell.replaceAll('"', ''),
        )
        return [`${cells[1]} | ${cells[2]}`, Number(cells[3]?.replaceAll(',', ''))]
      }),
  )

const ownPrices = (prices: object) => {
  const file = join(tmpdir(), `unit-guard-prices-${process.pid}.json`)
  writeFileSync(file, JSON.stringify({ ...list, prices }))
  return file
}

describe('what it costs', () => {
  test('docs/costs.md is what npm run costs prints; after a change that is meant: npm run costs -- --write', () => {
    expect(names.map(writtenSection).join('\n\n')).toBe(costs([]).split('\n\n').slice(1).join('\n\n').trimEnd())
  })

  test('no document but docs/costs.md states a price in dollars', () => {
    const documents = ['README.md', ...readdirSync('docs').map((name) => `docs/${name}`)]
    const states = (file: string) => file.endsWith('.md') && /\$ ?\d/.test(readFileSync(file, 'utf8'))
    expect(documents.filter(states)).toEqual([])
    const prose = readFileSync('docs/costs.md', 'utf8').replace(/<!-- costs: [\s\S]*?<!-- \/costs -->/g, '')
    expect(prose).not.toMatch(/\$ ?\d|\d US dollars/)
  })

  test('no price stands in the code beside its file', () => {
    const telling = amounts.filter((amount) => /\.\d{3,}/.test(amount))
    expect(telling.length).toBeGreaterThan(5)
    const code = readdirSync('infra/costs').filter((name) => name.endsWith('.ts'))
    const found = code.filter((name) => {
      const text = readFileSync(`infra/costs/${name}`, 'utf8')
      return telling.some((amount) => text.includes(amount)) || text.includes('$0')
    })
    expect(found).toEqual([])
  })

  test('each price has a date and a source of AWS', () => {
    for (const [name, { date, source, usd }] of Object.entries<Record<string, never>>(list.prices)) {
      expect([name, Object.keys(usd ?? {})]).toEqual([name, list.regions])
      expect(source, name).toMatch(/^https:\/\/aws\.amazon\.com\//)
      expect(date, name).toMatch(/^20\d\d-\d\d-\d\d$/)
    }
  })

  test('an update is its time, its units with those of cancelled transactions, and its lines', () => {
    const nothing = ['--tell-ms', '0', '--guard-ms', '0', '--log-kb', '0', '--answer-kb', '0']
    const row = '`POST /updates` | '
    const at = (...more: string[]) => cellsOf(['updates', '--service-seconds', '0', ...nothing, ...more])
    // 10 + 3 write units and 4 read units, and of two calls of tell 2 each; three calls of functions.
    const usual = 0.013 * 0.625 + 0.008 * 0.125 + 0.003 * 0.2
    expect(at().get(`${row}USD`)).toBeCloseTo(usual, 3)
    // Each transaction twice, the rows of indexes once.
    expect(at().get(`${row}50 % of transactions cancelled`)).toBeCloseTo(usual + 0.01 * 0.625, 3)
    expect(at('--service-seconds', '60').get(`${row}USD`)).toBeCloseTo(usual + 60 * 1_000 * 0.0000133334, 3)
  })

  test('prices of one’s own replace those of the list', () => {
    const dear = ownPrices({ secrets: { ...list.prices.secrets, usd: { 'us-east-1': 100, 'eu-central-1': 100 } } })
    expect(cellsOf(['options', '--prices', dear]).get('an event target, in a month | USD')).toBe(100)
    expect(() => costs(['--prices', ownPrices({ secret: list.prices.secrets })])).toThrow(
      'names prices that nothing uses',
    )
    expect(() => costs(['--region', 'mars-1'])).toThrow('in mars-1')
  })

  test('a template of one’s own is counted', () => {
    const file = join(tmpdir(), `unit-guard-template-${process.pid}.json`)
    const rule = { Type: 'AWS::Events::Rule', Properties: { ScheduleExpression: 'rate(5 minutes)' } }
    const scheduled = { Type: 'AWS::Lambda::Function', Properties: { MemorySize: 512 } }
    const secret = { Type: 'AWS::SecretsManager::Secret', Properties: {} }
    const log = { Type: 'AWS::Logs::LogGroup', Properties: { RetentionInDays: 30 } }
    const Resources = { ScheduledFunction0A1B2C3D: scheduled, rule, one: secret, two: secret, log }
    writeFileSync(file, JSON.stringify({ Resources }))
    const idle = cellsOf(['idle', '--template', file, '--processes', '0'])
    expect(idle.get('secrets | USD')).toBeCloseTo(2 * 0.4, 2)
    expect(idle.get('alarms | USD')).toBe(0)
  })

  test('npm run costs refuses what it does not know, and says how it is called', () => {
    expect(costs(['--help'])).toContain('--service-seconds <number>')
    const given = ['--import', 'tsx', 'infra/costs/run.ts', '--service-second', '1']
    const { status, stderr } = spawnSync(process.execPath, given, { encoding: 'utf8' })
    expect([status, stderr]).toEqual([2, expect.stringContaining("Unknown option '--service-second'")])
    expect(() => costs(['--cancelled', '1'])).toThrow('must be below 1')
    expect(() => costs(['--updates', 'many'])).toThrow('must be a number from 0')
    expect(() => costs(['cheap'])).toThrow('there is no table cheap')
  })
})
