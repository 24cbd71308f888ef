import { buffer } from 'node:stream/consumers'
import * as z from 'zod/mini'
import { chargeCorrectedLine, closedLine, holdLine, runLine } from '../../../../shared/guard/log-lines.ts'
import { count } from '../../../../shared/guard/sentences.ts'
import { rootBudget } from '../../../../shared/ledger/definitions/definitions.ts'
import { all } from '../../../../shared/ledger/store/pages.ts'
import { toRfc3339 } from '../../../../shared/platform/clock.ts'
import { parseLenientJson } from '../../../../shared/platform/json.ts'
import { answerOf, apiAccess, createSend } from '../../api-client.ts'
import { CannotContinue, readGiven } from '../../failures.ts'
import { parseInstant, WrongUsage } from '../command.ts'
import type { Run } from '../table.ts'

const update = z.object({
  state: z.string(),
  budget: z.string(),
  units: z.object({ charged: z.nullable(z.number()) }),
})
const restored = z.object({ at: z.iso.datetime(), to: z.optional(z.iso.datetime()) })
const status = z.object({ restored: z.optional(restored) })
const entry = z.object({ id: z.string(), type: z.string(), at: z.string(), reason: z.string() })
type Entry = z.infer<typeof entry>
const entries = z.pipe(
  z.object({ entries: z.array(entry), next: z.exactOptional(z.string()) }),
  z.transform(({ entries: rows, ...rest }) => ({ rows, ...rest })),
)

type Api = ReturnType<typeof createApi>

export const run: Run<'recover'> = async ({ log: file, since, 'dry-run': isDry = false }) => {
  if (file === undefined) throw new WrongUsage('--log is needed: the file with the log')
  const given = since === undefined ? null : parseInstant(since, '--since', '2026-11-20T09:55:00Z')
  const text = String(file === '-' ? await buffer(process.stdin) : await readGiven(file))
  const request = createSend(apiAccess())
  if (!isLog(text))
    throw new CannotContinue(
      `${file === '-' ? 'The standard input' : file} has no line of Unit Guard's log, which is JSON: take it from journalctl -u unit-guard -o cat, docker logs, or aws logs filter-log-events.`,
    )
  const send = createSender(request)
  const restore = status.parse((await send('GET', '/status')) ?? {}).restored
  const from = given ?? restoredTo(restore)
  const runs = loggedRuns(text, from)
  const api = createApi({ send, from, isDry, reconciled: restore ? await reconciledSince(send, restore.at) : null })
  let open = 0
  for (const run of runs) {
    const said = await recover(api, run)
    console.log(`${run.update}  ${said.text}`)
    if (said.isOpen) open++
  }
  const rest = open === 0 ? '' : `; ${count(open)} need a person`
  console.log(
    `${count(runs.length)} updates since ${toRfc3339(from)}, ${count(api.booked())} units ${isDry ? 'would be booked' : 'booked'}${rest}.`,
  )
  if (isDry) console.log('Nothing was changed (--dry-run).')
  return open === 0
}

/** The time is of the ledger, because a later time, typed by hand, would leave out runs. */
function restoredTo(restore: z.infer<typeof restored> | undefined): number {
  if (restore?.to === undefined)
    throw new CannotContinue('This ledger has no time that it was restored to: set --since.')
  return Date.parse(restore.to)
}

type Send = ReturnType<typeof createSender>

const entriesOf = (send: Send, budget: string, since: string): Promise<Entry[]> =>
  all(async (cursor) => {
    const query = new URLSearchParams({ since, limit: '200', ...(cursor && { cursor }) })
    return entries.parse((await send('GET', `/budgets/${budget}/entries?${query}`)) ?? { entries: [] })
  })

/** The latest one. Its figure contains the runs that are to be booked. */
async function reconciledSince(send: Send, since: string): Promise<Entry | null> {
  return (await entriesOf(send, rootBudget, since)).find(({ type }) => type === 'reconcile') ?? null
}

interface Recovery {
  readonly text: string
  readonly isOpen?: boolean
}

async function recover(api: Api, run: LoggedRun): Promise<Recovery> {
  const found = await api.find(run.update)
  const isWaiting = found?.state === 'requested' || found?.state === 'awaiting-approval'
  if (isWaiting) await api.cancel(run)
  if (!found || isWaiting) {
    const nothing = isWaiting ? `${api.isDry ? 'would be ' : ''}cancelled; it cost nothing` : 'cost nothing'
    return run.units === 0 ? { text: nothing } : api.book(run, run.units)
  }
  if (found.state === 'running')
    return { text: 'is running in the restored ledger: let the sweep put it in doubt, then repeat this', isOpen: true }
  if (found.state === 'in-doubt')
    return run.isKnown ? api.resolve(run) : { text: 'is in doubt: resolve it', isOpen: true }
  const missing = run.units - (found.units.charged ?? 0)
  if (missing === 0) return { text: 'is booked already' }
  if (missing > 0) return api.book(run, missing, found.budget)
  const less = `cost ${count(-missing)} units less than is booked`
  return { text: `${less}: correct it with the reconciliation`, isOpen: true }
}

/** `null` for status 404. */
const createSender =
  (request: ReturnType<typeof createSend>) =>
  async (method: 'GET' | 'POST', path: string, body?: object, key?: string): Promise<unknown> => {
    const response = await request(method, path, { ...(body && { body }), key })
    return response.status === 404 ? null : answerOf(response)
  }

function createApi(parts: { send: Send; from: number; isDry: boolean; reconciled: Entry | null }) {
  const { send, from, isDry, reconciled } = parts
  let booked = 0
  const reasons = new Map<string, Promise<readonly string[]>>()

  /** Two operators have different idempotency keys, so the reasons of entries show which runs are booked already. */
  async function reasonsOf(budget: string): Promise<readonly string[]> {
    return (await entriesOf(send, budget, toRfc3339(from))).map(({ reason }) => reason)
  }

  return {
    isDry,
    booked: () => booked,
    find: async (id: string) => {
      const answer = await send('GET', `/updates/${id}`)
      return answer === null ? null : update.parse(answer)
    },
    cancel: async ({ update: id }: LoggedRun) => {
      if (!isDry) await send('POST', `/updates/${id}/cancel`, { reason: 'it was begun before the restore' })
    },
    resolve: async ({ update: id, units }: LoggedRun): Promise<Recovery> => {
      const reason = 'recovered from the log'
      const body = units > 0 ? { outcome: 'ran', units, reason } : { outcome: 'did-not-run', reason }
      if (!isDry) await send('POST', `/updates/${id}/resolve`, body)
      return {
        text: `${isDry ? 'would be ' : ''}resolved: ${units > 0 ? `it ran, ${count(units)} units` : 'it did not run'}`,
      }
    },
    /** Books the units on the budget, or on `account` if the ledger lacks the budget. */
    book: async ({ update: id, held, isKnown }: LoggedRun, units: number, of?: string): Promise<Recovery> => {
      const what = held ? `${held.kind} of ${held.project} by ${held.caller}, held ${held.heldAt}` : 'held before'
      const reason = `recovered ${id}: ${what}, ${isKnown ? 'ran' : 'may have run'}`
      const body = { type: 'external-spend', units, reason }
      for (const budget of new Set([of ?? held?.budget ?? rootBudget, rootBudget])) {
        const known = reasons.get(budget) ?? reasonsOf(budget)
        reasons.set(budget, known)
        if ((await known).some((each) => each.startsWith(`recovered ${id}:`))) return { text: 'is booked already' }
        if (reconciled) throw new CannotContinue(countedTwice(id, budget, reconciled))
        const answer = isDry
          ? await send('GET', `/budgets/${budget}`)
          : await send('POST', `/budgets/${budget}/entries`, body, `recover-${id}`)
        if (answer === null) continue
        booked += units
        return { text: `${count(units)} units${isDry ? ' would be booked' : ''} on ${budget}: ${reason}` }
      }
      throw new CannotContinue(`${id} could not be booked`)
    },
  }
}

const countedTwice = (update: string, budget: string, { id, at }: Entry): string =>
  `${update} is not booked: ${rootBudget} was reconciled at ${at} (${id}), after the restore was accepted, and that figure contains it. To charge it to ${budget} nevertheless, book it there as an external-spend, then reconcile ${rootBudget} again with the figure of now, which gives its units back.`

/** docs/runbook.md, "A run has two lines". */
export interface LoggedRun {
  readonly update: string
  /** Absent if the restored ledger already has the update. */
  readonly held?: Pick<z.infer<typeof holdLine>, 'kind' | 'project' | 'budget' | 'caller' | 'heldAt'>
  readonly units: number
  /** Whether the outcome is known. Otherwise `units` are the held units. */
  readonly isKnown: boolean
}

const correctionLine = z.object({
  at: z.iso.datetime(),
  event: z.literal('late-correction'),
  update: z.string(),
  charged: z.nullable(z.int()),
})
const line = z.union([holdLine, runLine, closedLine, correctionLine, chargeCorrectedLine])
type Line = z.infer<typeof line>

/** @param text log lines, or the JSON of `aws logs filter-log-events`. */
export function loggedRuns(text: string, since: number): LoggedRun[] {
  const lines = messagesIn(text)
    .flatMap((message) => line.safeParse(parseLenientJson(message)).data ?? [])
    .filter(({ at }) => Date.parse(at) >= since)
    .toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at))
  return [...new Set(lines.map(({ update }) => update))].map((update) => {
    const own = lines.filter((each) => each.update === update)
    return { update, ...heldBy(own), ...outcomeOf(own) }
  })
}

function heldBy(lines: readonly Line[]): Pick<LoggedRun, 'held'> {
  const found = lines.find((each) => each.event === 'hold' || each.event === 'run')
  if (!found || !('heldAt' in found)) return {}
  const { kind, project, budget, caller, heldAt } = found
  return { held: { kind, project, budget, caller, heldAt } }
}

function outcomeOf(lines: readonly Line[]): Pick<LoggedRun, 'units' | 'isKnown'> {
  const later = lines.findLast((each) => each.event !== 'hold' && each.event !== 'run')
  if (later && typeof later.charged === 'number') return { units: later.charged, isKnown: true }
  const run = lines.find((each) => each.event === 'run')
  if (run && run.found !== 'unknown')
    return { units: run.found === 'ran' ? (run.charged ?? run.held) : 0, isKnown: true }
  const [held] = lines.filter((each) => 'held' in each).map((each) => each.held)
  return { units: held ?? 0, isKnown: false }
}

/** Accepts an empty log. A file that is not a log must not look as if nothing had run. */
function isLog(text: string): boolean {
  const messages = messagesIn(text).filter((message) => message.trim() !== '')
  return (
    messages.length === 0 ||
    messages.some((message) => z.object({ event: z.string() }).safeParse(parseLenientJson(message)).success)
  )
}

/** `{"events": [{"message"}]}`, `["…"]`, or one message a line. */
function messagesIn(text: string): readonly string[] {
  const whole = parseLenientJson(text)
  if (Array.isArray(whole)) return whole.map(String)
  const events = z.object({ events: z.array(z.object({ message: z.string() })) }).safeParse(whole)
  return events.success ? events.data.events.map(({ message }) => message) : text.split('\n')
}
