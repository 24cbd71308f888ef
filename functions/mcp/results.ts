import { showProblem, showUpdate } from '../../shared/api/to-json.ts'
import type { Slug } from '../../shared/guard/problem-types.ts'
import { stateTexts } from '../../shared/guard/states.ts'
import type { Problem, State, Update } from '../../shared/ledger/updates/update.ts'

export interface ToolResult {
  readonly content: { readonly type: 'text'; readonly text: string }[]
  readonly structuredContent: Record<string, unknown>
  readonly isError?: true
}

/** @param sentence for a model that reads no structured content. */
export const answered = (sentence: string, content: Record<string, unknown>): ToolResult => ({
  content: [
    { type: 'text', text: oneLine(sentence, maxSentence) },
    { type: 'text', text: asData(content) },
  ],
  structuredContent: content,
})

/** A problem of the API as a tool result, with the agent’s next step. */
export const refused = (problem: Problem, next: string, more: Record<string, unknown> = {}): ToolResult => ({
  ...answered(`${oneLine(problem.detail, maxDetail)} ${next}`, { ...showProblem(problem), ...more, next }),
  isError: true,
})

const maxSentence = 2_000
/** Leaves room for the next step, which must not be cut. */
const maxDetail = 1_000
const maxServiceBody = 1_000

/** Other people type names and reasons. Such a text must not look like a line of its own, or hide characters. */
export const oneLine = (text: string, maxLength = maxDetail): string => {
  const plain = text.replace(/[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}]+/gu, ' ')
  return plain.length > maxLength ? `${cut(plain, maxLength)}…` : plain
}

/** Half a character would make the whole answer unreadable for some clients. */
const cut = (text: string, length: number): string => text.slice(0, length).toWellFormed()

/** JSON in which every invisible character is escaped. */
const asData = (value: unknown): string =>
  JSON.stringify(value).replace(/[\u007f-\u009f\p{Cf}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}]/gu, (found) =>
    Array.from({ length: found.length }, (_, at) => `\\u${found.charCodeAt(at).toString(16).padStart(4, '0')}`).join(
      '',
    ),
  )

/** An agent needs only the beginning of the service's answer. @param now as in `showUpdate`. */
export function shownUpdate(update: Update, now?: number) {
  const shown = showUpdate(update, now)
  const { service } = shown
  return service && service.body.length > maxServiceBody
    ? { ...shown, service: { ...service, body: cut(service.body, maxServiceBody), truncated: true as const } }
    : shown
}

export const newQuote = 'Call estimate_update for a new quote.'
const noSameWork = 'Do not ask for the same work while that one stands.'

/** Next steps after a problem of a call, of an estimate, of an unrecorded request, or in the record of a quote. */
const usualNext = {
  call: 'You may make the same call again in a minute; with a quote it never runs twice.',
  estimate: 'Nothing was spent. Change what the sentence names, or ask a person.',
  request: newQuote,
  record: 'Change what the sentence names, or ask a person; then call estimate_update.',
}
type Where = keyof typeof usualNext

/** Nothing was recorded, so the quote is still valid. */
const quoteStays = {
  request: 'You may call request_update with the same quote again while it lasts; it never runs twice.',
}
const sameCall = { ...quoteStays, estimate: 'Nothing was spent. You may make the same call again in a minute.' }

/** After these problems the usual step is wrong: an agent that changes its request would ask for the same work twice. */
const otherNext: Partial<Record<Slug, Partial<Record<Where, string>>>> = {
  'service-unreachable': sameCall,
  'ledger-unavailable': sameCall,
  undecided: sameCall,
  'service-refused': quoteStays,
  'estimate-unreadable': quoteStays,
  'wrong-clock': quoteStays,
  'invalid-request': { call: 'Correct the arguments.' },
  forbidden: { call: 'Ask a person who administers Unit Guard; another way to the service is not allowed either.' },
  'too-many-requests': { call: 'Wait that long. If you are in a loop, stop it.' },
  'already-updated': { estimate: 'You need no other update.' },
  'duplicate-work': { estimate: noSameWork, record: noSameWork },
  // Only people may force an update.
  'ledger-restored': { record: 'Ask a person.' },
}

export function nextAfter({ slug, members: { update } }: Problem, where: Where): string {
  const next = otherNext[slug as Slug]?.[where]
  if (next === undefined) return usualNext[where]
  return typeof update === 'string' ? `${next} Call get_update with the id ${update}.` : next
}

interface Place {
  readonly dashboardUrl: string | null
}

/** The agent's next step for an update in this state. */
export function nextFor({ id, state, problem }: Update, { dashboardUrl }: Place): string {
  const page = dashboardUrl === null ? 'in the dashboard' : `at ${dashboardUrl}/dashboard/updates/${id}`
  const { means, next } = stateTexts[state]
  const again = 'For another try, call estimate_update for a new quote.'
  const underWay = `Call get_update with the id ${id} and waitSeconds 20.`
  const tools: Record<State, string> = {
    requested: `${next} ${underWay}`,
    running: `${next} ${underWay}`,
    'awaiting-approval': `${next} They decide ${page}; get_update shows it later.`,
    'in-doubt': `${next} A person can say so ${page}.`,
    settled: 'Its quote is used; each further update needs a new quote.',
    released: again,
    refused: `This quote stays refused. ${problem ? nextAfter(problem, 'record') : usualNext.record}`,
    rejected: next,
    cancelled: again,
    expired: again,
  }
  return `It ${means} ${tools[state]}`
}
