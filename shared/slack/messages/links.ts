import type { WindowKind } from '../../ledger/definitions/definitions.ts'
import { type Block, button, buttons, context, type Message } from '../blocks.ts'
import { code, limits } from '../text.ts'
import { capital, stops } from './words.ts'

/** Without `dashboardUrl`, messages name commands instead of pages. */
export interface Links {
  readonly dashboardUrl?: string | null | undefined
}

const updatePath = (id: string): string => `/dashboard/updates/${encodeURIComponent(id)}`
export const budgetPath = (name: string): string => `/dashboard/budgets/${encodeURIComponent(name)}`
export const projectPath = (name: string): string => `/dashboard/projects/${encodeURIComponent(name)}`
export const personPath = (name: string): string => `/dashboard/people/${encodeURIComponent(name)}`
export const planPath = (name: string): string => `/dashboard/plans/${encodeURIComponent(name)}`

const link = (dashboardUrl: string, path: string, text: string): string => `<${dashboardUrl}${path}|${text}>`

const openText = 'Open in dashboard'

export const moreAbout = (id: string, { dashboardUrl = null }: Links): string =>
  dashboardUrl === null ? `More: \`/units show ${id}\`` : link(dashboardUrl, updatePath(id), openText)

export const inboxLink = ({ dashboardUrl = null }: Links): string =>
  dashboardUrl === null ? 'the inbox' : link(dashboardUrl, '/dashboard/inbox', 'the inbox')

/** Names an update in a list. */
export const pageOrId = (id: string, { dashboardUrl = null }: Links): string =>
  dashboardUrl === null ? code(id) : link(dashboardUrl, updatePath(id), openText)

/** Links to the list of updates. Without a dashboard, `hint` names the commands. */
export const moreUpdates = (hint: string, { dashboardUrl = null }: Links): string =>
  dashboardUrl === null ? hint : link(dashboardUrl, '/dashboard/updates', openText)

export const linkBlocks = (path: string, { dashboardUrl = null }: Links): Block[] =>
  dashboardUrl === null ? [] : [context(link(dashboardUrl, path, openText))]

/**
 * Adds the button and the link if the message has room for them.
 *
 * @param path `null`: the message has its links.
 */
export function withEnd(message: Message, remedy: Remedy | null, path: string | null, links: Links): Message {
  const end: Block[] = remedy ? [buttons(remedyButton(remedy))] : []
  if (path !== null) end.push(...linkBlocks(path, links))
  return message.blocks.length + end.length <= limits.blocks
    ? { ...message, blocks: [...message.blocks, ...end] }
    : message
}

/** `at` is the time of the stop, so that an old button cannot lift a later stop. */
export type Remedy =
  | { readonly kind: 'unfreeze' | 'resume'; readonly name: string; readonly at: number }
  | { readonly kind: 'grant-units'; readonly name: string; readonly window: WindowKind; readonly until: number }

function remedyButton(remedy: Remedy) {
  const { kind, name } = remedy
  if (kind === 'grant-units') return button(kind, `${remedy.window}:${remedy.until}:${name}`, { text: 'Grant units…' })
  const what = kind === 'unfreeze' ? 'budget' : 'plan'
  const confirm = capital(kind)
  const text = `${confirm} the ${what}`
  const dialog = { title: `${text}?`, text: stops[what].lifted, confirm, deny: 'Cancel' }
  return button(kind, `${remedy.at}:${name}`, { text, dialog })
}
