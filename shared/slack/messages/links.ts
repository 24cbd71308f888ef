import { type Block, context, type Message } from '../blocks.ts'
import { limits } from '../text.ts'

/** @param dashboardUrl `null`: not known, so messages name commands instead of pages. */
export interface Links {
  readonly dashboardUrl?: string | null | undefined
}

const updatePath = (id: string): string => `/dashboard/updates/${encodeURIComponent(id)}`
export const budgetPath = (name: string): string => `/dashboard/budgets/${encodeURIComponent(name)}`
export const planPath = (name: string): string => `/dashboard/plans/${encodeURIComponent(name)}`

/** @param text must be ours. */
const link = (dashboardUrl: string, path: string, text: string): string => `<${dashboardUrl}${path}|${text}>`

const openText = 'Open in dashboard'

/** Says where to read more about an update. */
export const moreAbout = (id: string, { dashboardUrl = null }: Links): string =>
  dashboardUrl === null ? `More: \`/units show ${id}\`` : link(dashboardUrl, updatePath(id), openText)

export const linkBlocks = (path: string, { dashboardUrl = null }: Links): Block[] =>
  dashboardUrl === null ? [] : [context(link(dashboardUrl, path, openText))]

/** Adds the page at the end, where there is room for it. */
export const withLink = (message: Message, path: string, links: Links): Message =>
  message.blocks.length < limits.blocks
    ? { ...message, blocks: [...message.blocks, ...linkBlocks(path, links)] }
    : message
