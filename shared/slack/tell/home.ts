import type { Guard } from '../../guard/guard.ts'
import type { GuardOptions } from '../../guard/options.ts'
import { permissionsOf, whyNotApprove } from '../../guard/people/permissions.ts'
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
  const waiting = await ledger.open('awaiting-approval', maxRead)
  const doubts = await ledger.open('in-doubt', maxRead)
  const rows = [...waiting.rows.toSorted(byDeadline), ...doubts.rows].map((update) => rowOf(update, view, caller))
  return homeView({
    ...{ account: figuresOf(view, account, 'month'), leftAtReset: null, rows, notice },
    ...{ zone: zoneOf(view), dashboardUrl },
  })
}

const byDeadline = (one: Update, other: Update): number => (one.approvableUntil ?? 0) - (other.approvableUntil ?? 0)

function rowOf(update: Update, view: View, caller: string): HomeRow {
  const { scopes } = permissionsOf(view.definitions, { caller })
  if (!scopes.has('approve')) return { update, whyNot: 'You need the scope approve to decide.' }
  const refusal = update.state === 'awaiting-approval' ? whyNotApprove(update, view, caller) : null
  return { update, whyNot: refusal?.detail ?? null }
}
