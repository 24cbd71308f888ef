import { budgetFor } from '../../../shared/guard/rules/projects.ts'
import { runningRecord } from '../../../shared/guard/update/records.ts'
import type { UpdatesRequest } from '../../../shared/guard/update/request.ts'
import type { RunOutcome } from '../../../shared/ledger/book/outcome.ts'
import { chainOf } from '../../../shared/ledger/definitions/definitions.ts'
import { type Scope, toUnits } from '../../../shared/platform/words.ts'
import type { Kind } from '../../../shared/tracking/kinds.ts'
import { type Machine, options } from '../machine.ts'
import { minuteMs, type World } from '../world.ts'

/** The actions of processes in races. */

const scopes: ReadonlySet<Scope> = new Set(['run', 'admin'])

export const ask = (
  { guard, endsAt }: Machine,
  caller: string,
  key: string,
  project: string,
  more: Partial<UpdatesRequest> = {},
  respondAsync = false,
) =>
  guard.submit(
    { caller, token: { scopes, budgets: '*' }, via: 'http', route: 'POST /updates', key },
    { kind: 'ranking', projects: [project], whenShort: 'refuse', ...more },
    { respondAsync, endsAt: endsAt() },
  )

export type Action = (machine: Machine) => Promise<unknown>

export interface Race {
  readonly unitsPerMonth: number
  readonly at?: number
  readonly prepare?: Action
  readonly processes: Readonly<Record<string, Action>>
  /** Budgets that may be overspent, because their limit is lowered. */
  readonly excused?: ReadonlySet<string>
  /** Every run leaves a date that proves it, so no person's mistake remains. */
  readonly leavesEvidence?: true
  check?(world: World): void
}

export const passes = ({ ask }: Machine, what: string, ms: number) =>
  ask({
    what,
    faults: [],
    reads: false,
    take: async (world) => {
      world.now += ms
    },
  })

export const costs = ({ ask }: Machine, project: string, units: number) =>
  ask({
    what: `${project} costs ${units}`,
    faults: [],
    reads: false,
    take: async (world) => {
      world.prices = { ...world.prices, [project]: units }
    },
  })

export const sweepsLate: Action = async (machine) => {
  // Passes the lease and the flight, while the sender may still wait for its answer.
  await passes(machine, 'ten minutes pass', 10 * minuteMs)
  await (await machine.guard.jobs()).sweep(machine.endsAt())
}

export const grants: Action = ({ guard }) =>
  guard.ledger.enter({
    type: 'grant',
    budget: 'account',
    units: 40,
    window: 'month',
    wholeChain: false,
    id: 'ent_one',
    content: 'the same',
    reason: 'more',
    by: 'root',
  })

export const begins: Action = async ({ guard, endsAt }) => {
  const { rows } = await guard.ledger.open('requested', 10)
  for (const { id } of rows) await guard.start(id, endsAt())
}

export const awaiting = async ({ guard }: Machine) => (await guard.ledger.open('awaiting-approval', 10)).rows

export const limitsSmall =
  (units: number): Action =>
  ({ guard }) => {
    const limits = [{ window: 'month', units: toUnits(units) } as const]
    return guard.putBudget({ name: 'small', parent: 'account', limits, projects: [] }, { caller: 'root' })
  }

/** Approves updates of 40 units each, while `small` has 10 units left. */
export const approvesShort =
  (...projects: readonly string[]): Action =>
  async (machine) => {
    await limitsSmall(50)(machine)
    await ask(machine, 'ada', 'first', 'umbrella', { budget: 'small' })
    await ask(machine, 'ada', 'short', '', { projects, budget: 'small', whenShort: 'ask' })
    for (const { id } of await awaiting(machine)) await machine.guard.decide('approve', id, { caller: 'dora' })
  }

export const starts =
  (project: string): Action =>
  async ({ guard, endsAt }) => {
    const { rows } = await guard.ledger.open('requested', 10)
    for (const row of rows.filter((row) => row.project === project)) await guard.start(row.id, endsAt())
  }

export const resolves =
  (outcome: 'ran' | 'did-not-run'): Action =>
  async ({ guard }) => {
    const { rows } = await guard.ledger.open('in-doubt', 10)
    for (const { id } of rows) await guard.decide(outcome, id, { caller: 'carl' }, { reason: 'says the screen' })
  }

/** Holds an update and closes it with this outcome. */
export async function leaves(
  { guard, endsAt }: Machine,
  project: string,
  outcome: RunOutcome,
  kind: Kind = 'keyword-difficulty',
): Promise<string> {
  const view = await guard.ledger.view([{ work: { kind, project } }])
  const [asked] = view.results
  if (!asked) throw new Error('nothing was shown')
  const id = `upd_left_${project}`
  const content = { digest: id, count: 1 }
  const budget = budgetFor(view.definitions, {}, project)
  const request = {
    id,
    kind,
    project,
    budget,
    caller: 'ada',
    via: 'http',
    content,
    createdAt: view.now,
  } as const
  const quote = { units: toUnits(40), dates: kind === 'ranking' ? [] : null }
  const how = { counters: chainOf(view.definitions, budget), attempt: id, endsAt: endsAt(), options }
  const update = runningRecord({ view, asked, request, quote }, how)
  await guard.ledger.hold(view, { update: null, works: asked.works, runs: [] }, update)
  await guard.ledger.settle(update, outcome)
  return id
}
