import type { Guard } from '../../guard/guard.ts'
import type { Permissions } from '../../guard/people/permissions.ts'
import { zoneOf } from '../../guard/sentences.ts'
import type { Update } from '../../ledger/updates/update.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Scope } from '../../platform/words.ts'
import type { Kinds } from '../../tracking/kinds.ts'
import { inPlace, type Message } from '../blocks.ts'
import { problemMessage } from '../messages/help.ts'
import type { Links } from '../messages/links.ts'
import { named } from '../messages/words.ts'
import type { SlackEvent } from '../slack-events.ts'

export interface EventAnswer {
  /** `null`: App Home or an edited announcement shows the answer. */
  readonly message: Message | null
  /** If the user cannot get the message, it is not sent to the channel. */
  readonly isPrivate?: true
  /** Stored before the message is sent. */
  readonly remember?: Pick<SlackEvent & { kind: 'command' }, 'quotes' | 'payers'> | Pick<SlackEvent, 'updates'>
}

/** Needed to answer commands and presses. */
export interface AnswerParts {
  readonly guard: Guard
  readonly dashboardUrl: string | null
  readonly clock: Clock
  readonly kinds?: Kinds
}

/** Needed by messages that show updates. */
export async function placeOf({ guard: { ledger }, dashboardUrl = null }: Pick<AnswerParts, 'guard'> & Links) {
  const view = await ledger.view()
  return { view, zone: zoneOf(view), dashboardUrl, shown: (update: Update) => named(view.definitions, update) }
}

export const updatesNamed = async ({ ledger }: Guard, ids: readonly string[] = []): Promise<readonly Update[]> =>
  (await ledger.updatesNamed(ids)).filter((update) => update !== null)

export const replyWith = (sentence: string): EventAnswer => ({ message: problemMessage(sentence) })

export const replaceWith = (sentence: string): EventAnswer => ({ message: { ...problemMessage(sentence), ...inPlace } })

export const callerOf = ({ user }: Pick<SlackEvent, 'user'>): string => `slack:${user}`

/** Returns a guard that shows only what the user of this event may read. */
export const guardFor = async (guard: Guard, event: Pick<SlackEvent, 'user'>): Promise<Guard> =>
  (await guard.permissions({ caller: callerOf(event) }, { atOnce: false })).guard

/** `null`: allowed. */
export function whyNotAllowed(allowed: Permissions, ...anyOf: readonly Scope[]): string | null {
  const { caller } = allowed
  if (allowed.isDisabled) return `${caller} is disabled here. Ask an administrator of Unit Guard.`
  if (anyOf.some((scope) => allowed.scopes.has(scope))) return null
  const scope = `the scope ${anyOf.join(' or ')}`
  return allowed.isListed
    ? `You are listed as ${caller}, but this needs ${scope}. Ask an administrator of Unit Guard to add it.`
    : `You are not allowed to do that: it needs ${scope}. Ask an administrator of Unit Guard to list you as the caller ${caller}.`
}

export const notTheirs = 'Only the user who typed this command may confirm it. You can type it yourself.'
