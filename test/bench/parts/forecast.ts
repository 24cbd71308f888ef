import { play } from '../../../shared/guard/plans/play.ts'
import type { PlayInput } from '../../../shared/guard/plans/play-setup.ts'
import { type Plan, parsePlans } from '../../../shared/guard/plans-file.ts'
import { bookAsOf } from '../../../shared/ledger/book/book.ts'
import type { Budget, Definitions } from '../../../shared/ledger/definitions/definitions.ts'
import { dayAt, monthAt, newCalendar } from '../../../shared/ledger/definitions/windows.ts'
import { toUnits } from '../../../shared/platform/words.ts'
import { type Found, measuredOn } from '../document.ts'
import { spreadHead, spreadOf, table } from '../tables.ts'

const turns = 20
const clients = 40
const projects = Array.from({ length: 500 }, (_, each) => `project-${each}`)

/** The processor that one forecast takes, without the reads of the ledger: 500 projects of 40 clients, every night of a month. */
export async function benchForecast(): Promise<Found> {
  const plan = { name: 'night', kind: 'ranking', projects, schedule: 'cron(0 5 1-31 DEC ? *)' }
  const [night] = parsePlans(JSON.stringify([plan]))
  if (!night) throw new Error('there is no plan')
  const input = inputOf()
  const found: number[] = []
  for (let turn = 0; turn < turns; turn++) found.push(processorMs(() => countSteps(input, night)))
  const [first = 0] = found
  const rows = [
    ['first of a process', String(Math.round(first))],
    ['later', spreadOf(found.slice(1), 0)],
  ]
  const how = measuredOn([`${turns} forecasts`, '500 projects, 31 nights'])
  return { sections: { forecast: [table(['forecast', `ms of processor, ${spreadHead}`], rows), how].join('\n\n') } }
}

function processorMs(act: () => void): number {
  const from = process.cpuUsage()
  act()
  const { user, system } = process.cpuUsage(from)
  return (user + system) / 1_000
}

function countSteps(input: ReturnType<typeof inputOf>, plan: Plan): void {
  const { runs } = play(input, [{ plan, paused: false, last: null, first: [] }])
  const steps = runs.reduce((sum, { rows }) => sum + rows.length, 0)
  if (steps !== 31 * projects.length) throw new Error(`${steps} updates were played`)
}

function inputOf(): PlayInput & { readonly nextStored: null } {
  const now = Date.parse('2026-12-01T00:00:00Z')
  const calendar = newCalendar({ day: 1, time: '00:00', zone: 'Europe/Berlin' })
  const budgets: Record<string, Budget> = {
    account: { name: 'account', parent: null, limits: [{ window: 'month', units: toUnits(800_000) }], projects: [] },
  }
  for (let client = 0; client < clients; client++) {
    const name = `client-${client}`
    const limits = [
      { window: 'month' as const, units: toUnits(20_000) },
      { window: 'day' as const, units: toUnits(900) },
    ]
    const own = projects.filter((_, each) => each % clients === client).map((project) => ({ name: project }))
    budgets[name] = { name, parent: 'account', limits, projects: own }
  }
  const definitions: Definitions = { revision: 1, createdAt: 0, calendar, budgets }
  const [month, day] = [monthAt(calendar, now), dayAt(calendar, now)]
  const book = bookAsOf(null, definitions, month.name, day.name)
  return {
    view: { now, definitions, month, day, stored: null, book, results: [] },
    seenOf: (kind, project) => ({
      update: null,
      works: [{ key: `${kind} ${project}`, work: null }],
      records: new Map(),
    }),
    waiting: [],
    nextStored: null,
    priceOf: () => ({ units: toUnits(60), at: now }),
    options: { serviceTimeoutMs: 1, serviceFlightMs: 1, cooldown: { ranking: 'day', 'keyword-difficulty': '7d' } },
  }
}
