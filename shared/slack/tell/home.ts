import type { Guard } from '../../guard/guard.ts'
import type { GuardOptions } from '../../guard/options.ts'
import { permissionsOf, whyNotApprove } from '../../guard/people/permissions.ts'
import type { Forecast } from '../../guard/plans/forecast.ts'
import { figuresOf, zoneOf } from '../../guard/sentences.ts'
import { rootBudget } from '../../ledger/book/definitions.ts'
import type { Update } from '../../ledger/updates/update.ts'
import type { View } from '../../ledger/views/views.ts'
import { type HomeRow, type HomeView, homeView, noHomeView } from '../messages/home.ts'
import type { SendResult } from './client.ts'
import type { Poster } from './post.ts'

const maxRead = 100

export interface HomeParts {
  guard: Guard
  options: GuardOptions
  poster: Pick<Poster, 'call'>
  dashboardUrl: string | null
}

/** App Home: the account's figures, and what needs a decision, with the buttons that this user may press. */
export const createHome = (parts: HomeParts) => ({
  /** @param notice what became of the user's press. */
  publish: async (user: string, notice: string | null): Promise<SendResult> => {
    const view = await composeHome(parts, `slack:${user}`, notice)
    return (await parts.poster.call('views.publish', { user_id: user, view })) ?? { kind: 'sent' }
  },
})

export type Home = ReturnType<typeof createHome>

async function composeHome(parts: HomeParts, caller: string, notice: string | null): Promise<HomeView> {
  const { guard, dashboardUrl } = parts
  const { ledger } = guard
  const view = await ledger.view()
  const { scopes } = permissionsOf(view.definitions, { caller })
  if (!scopes.has('read') && !scopes.has('approve'))
    return noHomeView(`Ask an administrator of Unit Guard to list you as the caller ${caller}, with the scope read.`)
  const account = view.definitions.budgets[rootBudget]
  if (!account) throw new Error('every ledger has a root budget')
  const { inbox, outlook } = await guard.background()
  const [{ entries }, { budgets }] = await Promise.all([inbox(maxRead), outlook(view)])
  const waiting = entries.flatMap((entry) =>
    entry.kind === 'doubt' ? [entry.update] : entry.rows.map((row) => row.update),
  )
  const month = budgets.find(({ budget }) => budget === rootBudget)?.month
  return homeView({
    account: figuresOf(view, account, 'month'),
    leftAtReset: month ? leftAtReset(month) : null,
    atRisk: budgets.flatMap(({ budget, sentence }) => (sentence === null ? [] : [{ budget, sentence }])),
    rows: waiting.map((update) => rowOf(update, view, caller)),
    notice,
    ...{ zone: zoneOf(view), dashboardUrl },
  })
}

/** From the recent pace to plans alone; `null` where the budget has no limit. */
function leftAtReset({ available, committed, projected, projectedAtPace }: Forecast) {
  if (available === null) return null
  const to = Math.max(0, available - committed)
  return { from: projectedAtPace === null ? null : Math.max(0, to - (projectedAtPace - projected)), to }
}

function rowOf(update: Update, view: View, caller: string): HomeRow {
  const { scopes } = permissionsOf(view.definitions, { caller })
  if (!scopes.has('approve')) return { update, whyNot: 'You need the scope approve to decide.' }
  const refusal = update.state === 'awaiting-approval' ? whyNotApprove(update, view, caller) : null
  return { update, whyNot: refusal?.detail ?? null }
}
