import { asNumber, counterOf, usedOf } from '../../ledger/book/book.ts'
import { largestSizeOf } from '../../ledger/book/changes.ts'
import { rootBudget } from '../../ledger/book/definitions.ts'
import { toDefinitionsItem } from '../../ledger/book/definitions-item.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import { pagesOf } from '../../ledger/views/lists.ts'
import type { View } from '../../ledger/views/views.ts'
import { type Clock, minuteMs } from '../../platform/clock.ts'
import type { Log } from '../../platform/log.ts'
import type { Measurements } from '../../platform/metrics.ts'

/** No reader needs the exact number above this. */
const maxAnnouncements = 100

const doubtsAtOnce = 50

/** Figures of the ledger for the alarms. No unit moves. */
export function createMetrics({ ledger, clock, log }: { ledger: Ledger; clock: Clock; log: Log }) {
  async function measure(): Promise<Measurements> {
    const view = await ledger.view()
    const used = usedPercent(view)
    return {
      OldestDoubtMinutes: await oldestDoubtMinutes(),
      ...(used !== null && { AccountUsedPercent: used }),
      BookBytes: largestSizeOf(view.book, view.definitions),
      DefinitionsBytes: sizeOf(toDefinitionsItem(view.definitions)),
      OpenAnnouncements: (await ledger.announcements.open(maxAnnouncements)).rows.length,
    }
  }

  /** Of a list that begins with the latest, the oldest stands on its last page. */
  async function oldestDoubtMinutes(): Promise<number> {
    let oldest = clock.now()
    for await (const { rows } of pagesOf((cursor) => ledger.open('in-doubt', doubtsAtOnce, cursor))) {
      for (const { doubt } of rows) oldest = Math.min(oldest, doubt?.at ?? oldest)
    }
    return Math.floor((clock.now() - oldest) / minuteMs)
  }

  /** Compares every counter with the sum of its lines, logs differences and keeps the result. */
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

/** As JSON, which is a little more than DynamoDB counts: names and digits are the most of it. */
const sizeOf = (item: object): number => Buffer.byteLength(JSON.stringify(item))
