import { isDeepStrictEqual } from 'node:util'
import { typeOfVersion } from '../../shared/events/types.ts'
import { type Ask, get, isFinal } from './asks.ts'
import type { ReceivedMessages } from './receivers.ts'
import type { Running } from './scenario.ts'
import { type Run, unitsOf } from './service.ts'

export interface Told {
  readonly id: string
  readonly kind: string
  readonly project: string
  readonly state: string
  readonly units: { readonly estimated: number | null; readonly held: number | null; readonly charged: number | null }
  readonly history: Parameters<typeof typeOfVersion>[0]['history']
}

interface Figures {
  readonly window: string
  readonly limit: number | 'unlimited'
  readonly granted: number
  readonly available: number
  readonly held: number
  readonly inDoubt: number
  readonly spent: number
}

/** Compares the ledger with itself and with the service's own account. Every line is a broken promise. */
export async function compare(running: Running, runs: readonly Run[]) {
  // The runs are copied before the ledger is read, so that each run in the copy has its fence in the ledger.
  const seen = runs.map((run) => ({ ...run }))
  const { updates, account } = await still(running)
  const audit = await auditOf(running)
  const { budgets } = (await get('/budgets', running)) as { budgets: { name: string; windows: Figures[] }[] }
  const broken = [
    ...againstTheService(updates, seen),
    ...againstTheBook(updates, account),
    ...budgets.flatMap(({ name, windows }) => windows.flatMap((figures) => withinLimits(name, figures))),
    ...(audit === true ? [] : [`the audit says ${audit}`]),
  ]
  return { updates, account, audit, broken }
}

const maxAudits = 20

/** `null`: counters moved during each of many audits, so none is compared. */
async function auditOf(running: Running): Promise<boolean | null> {
  for (let times = 1; ; times++) {
    const { ok } = await get('/audit', running)
    if (ok !== null || times === maxAudits) return ok
  }
}

/**
 * Records and book of one moment, although sweeps and plans move both meanwhile. Equal figures do not prove that nothing happened, but
 * histories only grow.
 */
async function still(running: Running): Promise<{ updates: Told[]; account: Figures }> {
  for (let before = await allUpdates(running); ; ) {
    const account: Figures = (await get('/budgets/account', running)).windows[0]
    const updates = await allUpdates(running)
    if (isDeepStrictEqual(before, updates)) return { updates, account }
    before = updates
  }
}

async function allUpdates(running: Running): Promise<Told[]> {
  const all: Told[] = []
  // A sweep with a clock ahead may have made records of that time.
  const from = `/updates?limit=200&until=${new Date(Date.now() + 23 * 3600_000).toISOString()}`
  let after = ''
  do {
    const { updates, next } = await get(`${from}${after}`, running)
    all.push(...updates)
    after = next === undefined ? '' : `&cursor=${encodeURIComponent(next)}`
  } while (after !== '')
  return all
}

function againstTheService(updates: readonly Told[], runs: readonly Run[]): string[] {
  const workOf = ({ kind, project }: { kind: string; project: string }) => `${kind} ${project}`
  const works = new Set([...updates.map(workOf), ...runs.map(workOf)])
  return [...works].flatMap((work) => {
    const told = updates.filter((update) => workOf(update) === work)
    const seen = runs.filter((run) => workOf(run) === work)
    const fenced = told.filter(({ history }) => history.some(({ state }) => state === 'running'))
    const accepted = seen.filter(({ refused }) => !refused)
    const estimate = unitsOf(work.slice(work.indexOf(' ') + 1))
    const consumed = sum(seen.map((run) => Math.min(run.consumed, estimate)))
    const counted = sum(told.map(countedFor))
    return [
      ...(seen.length > fenced.length ? [`${work}: ${seen.length} runs, ${fenced.length} fences`] : []),
      ...(accepted.length > 1 ? [`${work}: ran ${accepted.length} times`] : []),
      ...(consumed > counted ? [`${work}: the service took ${consumed} units, the ledger counts ${counted}`] : []),
    ]
  })
}

const countedFor = ({ state, units }: Told): number =>
  state === 'running' || state === 'in-doubt' ? (units.held ?? 0) : (units.charged ?? 0)

function againstTheBook(updates: readonly Told[], account: Figures): string[] {
  const of = (states: readonly string[], units: 'held' | 'charged') =>
    sum(updates.filter(({ state }) => states.includes(state)).map((update) => update.units[units] ?? 0))
  const records = {
    held: of(['running'], 'held'),
    inDoubt: of(['in-doubt'], 'held'),
    spent: of(['settled', 'released'], 'charged'),
  }
  return (['held', 'inDoubt', 'spent'] as const)
    .filter((figure) => account[figure] !== records[figure])
    .map((figure) => `${account[figure]} units of the account are ${figure}, ${records[figure]} of its records`)
}

function withinLimits(name: string, { window, limit, granted, available, held, inDoubt, spent }: Figures): string[] {
  if (limit === 'unlimited') return []
  return [
    ...(available + held + inDoubt + spent === limit + granted ? [] : [`${name} ${window} does not add up`]),
    ...(available >= 0 ? [] : [`${name} ${window} is overspent by ${-available}`]),
  ]
}

/**
 * Each version of an update is an event. @param doubted updates that were in doubt for a day. Slack does not announce a decision that is
 * no longer needed.
 */
export function missingMessages(
  updates: readonly Told[],
  doubted: readonly Told[],
  { events, messages }: ReceivedMessages,
): string[] {
  const inSlack = messages.join('\n')
  const missingEvents = updates.flatMap(({ id, history }) =>
    history.flatMap((_, index) =>
      typeOfVersion({ history }, index + 1) === null || events.has(`${id}-${index + 1}`)
        ? []
        : [`the event ${id}-${index + 1} never arrived`],
    ),
  )
  const untold = doubted.filter(({ id }) => !inSlack.includes(id)).map(({ id }) => `${id} is in doubt, untold in Slack`)
  return [...missingEvents, ...untold]
}

export function changedAnswers(asks: readonly Ask[]): string[] {
  return asks.flatMap((ask) => {
    const { name, heard, updates } = ask
    if (updates === 0) return []
    const finals = heard
      .filter((each) => isFinal(ask, each))
      .map(({ status, body: { requestId: _own, ...body } }) => ({ status, body }))
    const [first] = finals
    const other = finals.find((each) => !isDeepStrictEqual(each, first))
    return other ? [`${name}: answered ${JSON.stringify(first)}, and later ${JSON.stringify(other)}`] : []
  })
}

export const sum = (numbers: readonly number[]): number => numbers.reduce((all, each) => all + each, 0)
