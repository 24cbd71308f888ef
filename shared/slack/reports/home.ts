import type { Guard } from '../../guard/guard.ts'
import type { GuardOptions } from '../../guard/options.ts'
import { whyNotApprove } from '../../guard/people/decisions.ts'
import type { Permissions } from '../../guard/people/permissions.ts'
import { zoneOf } from '../../guard/sentences.ts'
import type { Troubles } from '../../guard/troubles/troubles.ts'
import type { View } from '../../ledger/book/view.ts'
import type { Update } from '../../ledger/updates/update.ts'
import type { Forecast } from '../../reports/plans/forecast.ts'
import { reportsOf } from '../../reports/reports.ts'
import { topOf } from '../../reports/tops.ts'
import type { HomeView } from '../blocks.ts'
import { named } from '../messages/words.ts'
import type { SendResult } from '../tell/client.ts'
import type { Poster } from '../tell/post.ts'
import { type HomeRow, homeView, noHomeView } from './home-view.ts'

const maxRead = 100

export interface HomeParts {
  guard: Guard
  troubles: Pick<Troubles, 'read'>
  options: GuardOptions
  poster: Pick<Poster, 'call'>
  dashboardUrl: string | null
}

/** @param notice the outcome of the user's press. */
export async function publishHome(parts: HomeParts, user: string, notice: string | null): Promise<SendResult> {
  const view = await composeHome(parts, `slack:${user}`, notice)
  return (await parts.poster.call('views.publish', { user_id: user, view })) ?? { kind: 'sent' }
}

async function composeHome(parts: HomeParts, caller: string, notice: string | null): Promise<HomeView> {
  const { dashboardUrl, troubles } = parts
  const permissions = await parts.guard.permissions({ caller }, { atOnce: true })
  const { scopes, guard, readsBudgets } = permissions
  if (!scopes.has('read') && !scopes.has('approve'))
    return noHomeView(`Ask an administrator of Unit Guard to list you as the caller ${caller}, with the scope read.`)
  const reports = await reportsOf(guard)
  const [{ entries }, { view, budgets }, found] = await Promise.all([
    guard.inbox(maxRead),
    reports.outlook(),
    troubles.read(),
  ])
  const top = topOf(budgets)
  if (!top) return noHomeView('You may read no budget. Ask an administrator of Unit Guard to list one for you.')
  const waiting = entries.flatMap((entry) =>
    entry.kind === 'doubt' ? [entry.update] : entry.rows.map((row) => row.update),
  )
  return homeView({
    troubles: found.filter(({ isForAllReaders }) => readsBudgets === '*' || isForAllReaders),
    account: top.figures,
    leftAtReset: leftAtReset(top.month),
    atRisk: budgets.flatMap(({ budget, sentence }) => (sentence === null ? [] : [{ budget, sentence }])),
    rows: waiting.map((update) => rowOf(update, view, permissions)),
    notice,
    zone: zoneOf(view),
    dashboardUrl,
  })
}

/** `null`: no limit. */
function leftAtReset({ available, committed, projected, projectedAtPace, unpriced }: Forecast) {
  if (available === null) return null
  const to = available - committed
  return { from: projectedAtPace === null ? null : to - (projectedAtPace - projected), to, isAtMost: unpriced > 0 }
}

function rowOf(update: Update, view: View, by: Permissions): HomeRow {
  if (!by.scopes.has('approve'))
    return { update: named(view.definitions, update), whyNot: 'You need the scope approve to decide.' }
  const refusal = update.state === 'awaiting-approval' ? whyNotApprove(update, view, by) : null
  return { update: named(view.definitions, update), whyNot: refusal?.detail ?? null }
}
