import { counterOf } from '../../ledger/book/book.ts'
import { largestSizeOf } from '../../ledger/book/changes.ts'
import type { View } from '../../ledger/book/view.ts'
import { asNumber, usedOf } from '../../ledger/definitions/counters.ts'
import { rootBudget } from '../../ledger/definitions/definitions.ts'
import { toDefinitionsItem } from '../../ledger/definitions/definitions-item.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import { pagesOf } from '../../ledger/store/pages.ts'
import { announcement, announcements } from '../../ledger/updates/tasks.ts'
import type { Update } from '../../ledger/updates/update.ts'
import type { OpenAs } from '../../ledger/updates/update-keys.ts'
import { dayMs, hourMs, minuteMs } from '../../platform/clock.ts'
import type { Measurements } from '../../platform/metrics.ts'
import { type GuardParts, refusalsWithinMs, withParts } from '../options.ts'
import { figuresOfChain } from '../sentences.ts'
import { thresholdsOf } from './thresholds.ts'

export type Alerts = ReturnType<typeof createAlerts>

/** This many refusals of one caller are announced once an hour. */
const burst = 10
const readAtMost = 200

/** The id of an announcement derives from its subject, so several processes announce a subject once. */
export function createAlerts({ ledger, clock }: Pick<GuardParts, 'ledger' | 'clock'>) {
  const announce = createAnnounce(ledger)

  async function checkThresholds(): Promise<void> {
    const view = await ledger.view()
    const budgets = Object.values(view.definitions.budgets)
    for (const figures of figuresOfChain(view, budgets)) {
      const { budget, window, end } = figures
      const { passed, used, of } = thresholdsOf(view, figures)
      if (passed.length === 0) continue
      const name = window === 'month' ? view.month.name : view.day.name
      const percent = Math.max(...passed)
      const about = { kind: 'threshold', budget, window, percent, used, of, resetsAt: end } as const
      await announce(`threshold#${budget}#${name}#${percent}`, view.now, about)
    }
  }

  async function checkRefusals(): Promise<void> {
    const now = clock.now()
    const since = now - refusalsWithinMs
    const { rows } = await ledger.updates({ since, state: 'refused' }, readAtMost)
    const refused = rows.filter(isOfPolicy)
    for (const caller of new Set(refused.map((update) => update.caller))) {
      const updates = refused.filter((update) => update.caller === caller)
      const [latest] = updates
      if (updates.length < burst || !latest || (await wasSent(caller, now))) continue
      const about = {
        kind: 'refusals',
        caller,
        since,
        count: updates.length,
        budget: latest.budget,
        otherBudgets: new Set(updates.map(({ budget }) => budget)).size - 1,
        detail: latest.problem?.detail ?? '',
      } as const
      await announce(refusalsId(caller, now), now, about)
    }
  }

  async function wasSent(caller: string, now: number): Promise<boolean> {
    const told = await ledger.announcements.get(refusalsId(caller, now - hourMs))
    return told !== null && now - told.createdAt < hourMs
  }

  async function remind(update: Update): Promise<void> {
    const { id, version, createdAt, history, approvableUntil = 0 } = update
    const now = clock.now()
    const askedAt = history.at(-1)?.at ?? createdAt
    if (now < (askedAt + approvableUntil) / 2) return
    await announce(`${id}#approval-reminder#${version}`, now, { kind: 'approval-reminder', update: id }, update)
  }

  return { announce, checkThresholds, checkRefusals, remind }
}

/** Remembers written ids, because a busy book is checked after each change. */
function createAnnounce(ledger: Ledger) {
  const known = new Set<string>()
  return async (...of: Parameters<typeof announcement>): Promise<void> => {
    const [id] = of
    if (known.has(id)) return
    await ledger.queue(announcements).add(announcement(...of))
    if (known.size > 1_000) known.clear()
    known.add(id)
  }
}

const refusalsId = (caller: string, now: number): string => `refusals#${caller}#${Math.floor(now / hourMs)}`

/** Leaves out refused duplicates, because their work is done, running or in doubt. */
const isOfPolicy = ({ problem, plan }: Update): boolean =>
  plan === undefined && problem?.slug !== 'already-updated' && problem?.slug !== 'duplicate-work'

const warnedBeforeMs = 14 * dayMs
/** The latest date of JavaScript, in seconds. */
const farthest = 8.64e12

/** The token's `exp` in ms (RFC 7519, section 4.1.4), not verified. */
function expiryOf(token: string): number | null {
  try {
    const { exp } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as { exp?: unknown }
    return typeof exp === 'number' && Math.abs(exp) < farthest ? exp * 1000 : null
  } catch {
    return null
  }
}

/** Announces the end of the token two weeks before, daily in the last week, and one time after. */
export const createTokenExpiry = (parts: TokenParts) => withParts(parts, { checkTokenExpiry })

type TokenParts = Pick<GuardParts, 'ledger' | 'serviceToken' | 'clock' | 'log'>

async function checkTokenExpiry({ ledger, serviceToken, clock, log }: TokenParts): Promise<void> {
  const expiresAt = expiryOf(await serviceToken())
  const now = clock.now()
  if (expiresAt === null || expiresAt - now > warnedBeforeMs) return
  const daysLeft = Math.max(-1, Math.floor((expiresAt - now) / dayMs))
  log.error('service-token-expires', { expiresAt: new Date(expiresAt).toISOString(), daysLeft })
  const told = daysLeft > 7 ? 'two-weeks' : String(daysLeft)
  const about = { kind: 'token-expires', expiresAt, daysLeft } as const
  await ledger.announcements.add(announcement(`token-expires#${expiresAt}#${told}`, now, about))
}

const readAtOnce = 50

export function createMetrics({ ledger, clock, log }: Pick<GuardParts, 'ledger' | 'clock' | 'log'>) {
  async function measure(): Promise<Measurements> {
    const view = await ledger.view()
    const used = usedPercent(view)
    return {
      OldestDoubtMinutes: await oldestMinutes('in-doubt', ({ doubt }) => doubt?.at),
      OldestQueuedMinutes: await oldestMinutes('requested', ({ requestedAt, createdAt }) => requestedAt ?? createdAt),
      ...(used !== null && { AccountUsedPercent: used }),
      BookBytes: largestSizeOf(view.book, view.definitions),
      DefinitionsBytes: sizeOf(toDefinitionsItem(view.definitions)),
    }
  }

  async function oldestMinutes(as: OpenAs, since: (update: Update) => number | undefined): Promise<number> {
    let oldest = clock.now()
    for await (const { rows } of pagesOf((cursor) => ledger.open(as, readAtOnce, cursor))) {
      for (const update of rows) oldest = Math.min(oldest, since(update) ?? oldest)
    }
    return Math.floor((clock.now() - oldest) / minuteMs)
  }

  async function audit(by = 'digest'): Promise<Measurements> {
    const rows = await ledger.audit()
    const wrong = rows.filter(({ ok }) => ok === false)
    for (const { window, budget } of wrong) log.error('audit-not-ok', { window, budget })
    await ledger.keepAudit({ at: clock.now(), by }, rows)
    return { AuditNotOk: wrong.length }
  }

  return { measure, audit }
}

function usedPercent({ book }: View): number | null {
  const account = counterOf(book, 'month', rootBudget)
  if (!account || account.limit === 'unlimited') return null
  const of = asNumber(account.limit) + account.granted
  const used = usedOf(account)
  if (of === 0) return used === 0 ? 0 : 100
  return Math.round((used / of) * 1000) / 10
}

/** Slightly more than DynamoDB counts. */
const sizeOf = (item: object): number => Buffer.byteLength(JSON.stringify(item))
