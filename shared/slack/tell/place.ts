import type { Guard } from '../../guard/guard.ts'
import type { GuardOptions } from '../../guard/options.ts'
import type { Troubles } from '../../guard/troubles/troubles.ts'
import type { View } from '../../ledger/book/view.ts'
import { budgetNamed, chainOf, type Definitions } from '../../ledger/definitions/definitions.ts'
import type { Announcement } from '../../ledger/updates/tasks.ts'
import type { Update } from '../../ledger/updates/update.ts'
import type { Kinds } from '../../tracking/kinds.ts'
import type { Message } from '../blocks.ts'

export interface ComposerParts {
  readonly guard: Guard
  readonly troubles: Pick<Troubles, 'read'>
  readonly options: GuardOptions
  readonly kinds?: Kinds
  readonly dashboardUrl?: string | null
  /** The daily message, with the figures until this time. */
  digest(until: number): Promise<Message>
}

/** The announcement of a message, and the state in which the message is composed. */
export interface Place extends ComposerParts, Pick<Announcement, 'posted' | 'createdAt'> {
  readonly view: View
  readonly zone: string
  readonly hasBot: boolean
  /** Updates of the same request that no message shows yet. */
  readonly together?: readonly Update[]
  /** Replaces the callers of an update by the names of their persons. */
  shown(update: Update): Update
  nameOf(caller: string): string
}

/** A message that asks for decisions. */
export interface Question {
  readonly message: Message
  /** The updates about which it asks. */
  readonly updates: readonly string[]
  /** The number of doubts with the same sign, as the message says. */
  readonly doubts?: number
}

/** The nearest budget of the chain that names a channel decides. `null`: the usual channel. */
export function channelOf(definitions: Definitions, budget: string | undefined): string | null {
  if (budget === undefined || !budgetNamed(definitions, budget)) return null
  return chainOf(definitions, budget).find(({ slackChannel }) => slackChannel !== undefined)?.slackChannel ?? null
}
