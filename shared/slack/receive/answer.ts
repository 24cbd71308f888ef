import type { Permissions } from '../../guard/people/permissions.ts'
import type { SlackEvent } from '../../ledger/updates/tasks.ts'
import type { Scope } from '../../platform/words.ts'
import { inPlace, type Message } from '../blocks.ts'
import { problemMessage } from '../messages/help.ts'

export interface EventAnswer {
  readonly message: Message
  /** For the user who asked only: better lost than shown in the channel. */
  readonly isPrivate?: true
  /** What to store with the item before the message is sent. */
  readonly remember?: Pick<SlackEvent & { kind: 'command' }, 'quotes' | 'payers'> | Pick<SlackEvent, 'updates'>
}

/** For the user alone. */
export const sayTo = (sentence: string): EventAnswer => ({ message: problemMessage(sentence) })

/** Replaces the message whose button was pressed. */
export const sayInstead = (sentence: string): EventAnswer => ({ message: { ...problemMessage(sentence), ...inPlace } })

export const callerOf = ({ user }: Pick<SlackEvent, 'user'>): string => `slack:${user}`

/** `null` if the caller may; otherwise what it takes, and whom to ask. */
export function whyNotAllowed(allowed: Permissions, caller: string, ...any: readonly Scope[]): string | null {
  if (allowed.isDisabled) return `${caller} is disabled here. Ask an administrator of Unit Guard.`
  if (any.some((scope) => allowed.scopes.has(scope))) return null
  const scope = `the scope ${any.join(' or ')}`
  return allowed.isListed
    ? `You are listed as ${caller}, but without ${scope}, which this takes. Ask an administrator of Unit Guard to add it.`
    : `You are not allowed to do that: it needs ${scope}. Ask an administrator of Unit Guard to list you as the caller ${caller}.`
}
