import { permissionsOf } from '../../guard/people/permissions.ts'
import type { Definitions } from '../../ledger/definitions/definitions.ts'
import type { Announcement } from '../../ledger/updates/tasks.ts'
import { isUnderWay, type Update } from '../../ledger/updates/update.ts'
import type { Message } from '../blocks.ts'
import { withEnd } from '../messages/links.ts'
import { decidedMessage, outcomeMessage } from '../messages/updates.ts'
import { nameFor } from '../messages/words.ts'
import type { SlackEvent } from '../slack-events.ts'
import { callerOf, guardFor, placeOf, updatesNamed } from './answer.ts'
import { awaitingWith } from './approvals.ts'
import { rowOf } from './news.ts'
import { type ComposerParts, channelOf, type Place, type Question } from './place.ts'

export interface Outcome {
  readonly message: Message
  readonly updates: readonly Update[]
}

export interface Composed extends Partial<Omit<Question, 'message'>> {
  readonly message: Message
  /** `null`: the usual channel. */
  readonly channel: string | null
}

type Subject = Pick<Announcement, 'about' | 'posted' | 'createdAt'>
type Options = Pick<Place, 'hasBot' | 'together'>

/** Composes messages from the current state. `null`: there is nothing to announce any more. */
export const createComposer = (parts: ComposerParts) => ({
  compose: (announcement: Subject, options: Options) => compose(parts, announcement, options),
  awaitingWith: (update: Update) => awaitingWith(parts, update),
  outcome: (event: SlackEvent) => outcome(parts, event),
})

export type Composer = ReturnType<typeof createComposer>

async function compose(
  parts: ComposerParts,
  { about, ...subject }: Subject,
  options: Options,
): Promise<Composed | null> {
  const row = rowOf(about)
  if (!row) return null
  const shownAt = await placeOf(parts)
  const { definitions } = shownAt.view
  const nameOf = (caller: string) => nameFor(definitions, caller)
  const place: Place = { ...parts, ...shownAt, ...subject, ...options, nameOf }
  const said = await row.message(about, place)
  if (!said) return null
  const { message, ...question } = 'message' in said ? said : { message: said }
  const remedy = options.hasBot && mayPress(definitions) ? (row.button?.(about, place) ?? null) : null
  return {
    message: withEnd(message, remedy, row.link(about), parts),
    channel: options.hasBot ? channelOf(definitions, await row.budget(about, place)) : null,
    ...question,
  }
}

/** Whether a person in Slack may press a button that repairs. */
const mayPress = (definitions: Definitions): boolean =>
  Object.keys(definitions.callers ?? {}).some(
    (caller) => /^slack:[UW]/.test(caller) && permissionsOf(definitions, { caller }).scopes.has('admin'),
  )

/** `null` until all updates have ended. Doubts and approvals have announcements of their own. */
async function outcome(whole: ComposerParts, event: SlackEvent): Promise<Outcome | null> {
  const guard = await guardFor(whole.guard, event)
  const parts = { ...whole, guard }
  const updates = await updatesNamed(guard, event.updates)
  const { shown: show, ...how } = await placeOf(parts)
  const shown = updates.map(show)
  const [first] = shown
  if (!first || updates.some(({ state }) => isUnderWay(state))) return null
  const isApproval = event.kind === 'press' && event.action !== 'confirm' && event.action !== 'ask'
  const message = isApproval
    ? // Another person may have approved the update since.
      decidedMessage({ update: first, by: first.approval?.by ?? callerOf(event), ...how })
    : outcomeMessage({ updates: shown, replaces: true, ...how })
  return { message, updates }
}
