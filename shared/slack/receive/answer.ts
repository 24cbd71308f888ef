import type { Permissions } from '../../guard/people/permissions.ts'
import type { SlackEvent } from '../../ledger/updates/tasks.ts'
import type { Scope } from '../../platform/words.ts'
import { inPlace, type Message } from '../blocks.ts'
import { problemMessage } from '../messages/help.ts'

/** What to answer, and what the item is to remember. */
export interface EventAnswer {
  readonly message: Message
  /** It is only for the user who asked: better lost than shown in the channel. */
  readonly isPrivate?: true
  readonly remember?: Pick<SlackEvent & { kind: 'command' }, 'quotes' | 'payers'> | Pick<SlackEvent, 'updates'>
}

/** Plain words, for the person alone. */
export const sayTo = (sentence: string): EventAnswer => ({ message: problemMessage(sentence) })

/** The same instead of the message whose button was pressed: there is nothing to press any more. */
export const sayInstead = (sentence: string): EventAnswer => ({ message: { ...problemMessage(sentence), ...inPlace } })

/** What a person in Slack may do is listed; a person who is not listed may do nothing. */
export const callerOf = ({ user }: Pick<SlackEvent, 'user'>): string => `slack:${user}`

/** `null`: they may. Otherwise the sentence that says what it takes, and whom to ask. */
export function whyNotAllowed(allowed: Permissions, caller: string, ...any: readonly Scope[]): string | null {
  if (allowed.isDisabled) return `${caller} is disabled here. Ask an administrator of Unit Guard.`
  if (any.some((scope) => allowed.scopes.has(scope))) return null
  const scope = `the scope ${any.join(' or ')}`
  return allowed.isListed
    ? `You are listed as ${caller}, but without ${scope}, which this takes. Ask an administrator of Unit Guard to add it.`
    : `You are not allowed to do that: it takes ${scope}. Ask an administrator of Unit Guard to list you as the caller ${caller}.`
}
