import { showProblem, showUpdate } from '../../shared/api/to-json.ts'
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

/** The sentence and the members of a problem of the API, and what the agent should do next. */
export const refused = (problem: Problem, next: string, more: Record<string, unknown> = {}): ToolResult => ({
  ...answered(`${oneLine(problem.detail, maxDetail)} ${next}`, { ...showProblem(problem), ...more, next }),
  isError: true,
})

const maxSentence = 2_000
/** So that what to do next is never cut. */
const maxDetail = 1_000
const maxServiceBody = 1_000

/** Names and reasons are other people's texts: they must not look like lines of their own, nor hide anything. */
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

/** An agent needs no more of the service's answer than its beginning. */
export function shownUpdate(update: Update) {
  const shown = showUpdate(update)
  const { service } = shown
  return service && service.body.length > maxServiceBody
    ? { ...shown, service: { ...service, body: cut(service.body, maxServiceBody), truncated: true as const } }
    : shown
}

interface Place {
  readonly dashboardUrl: string | null
}

/** What an agent should do about an update in this state. */
export function nextFor({ id, state, problem }: Update, { dashboardUrl }: Place): string {
  const page = dashboardUrl === null ? 'in the dashboard' : `at ${dashboardUrl}/dashboard/updates/${id}`
  const underWay = `It is under way: call get_update with the id ${id} and waitSeconds 20. Do not ask for another one.`
  const newQuote = 'For another try, call estimate_update for a new quote.'
  const sentences: Record<State, string> = {
    requested: underWay,
    running: underWay,
    'awaiting-approval': `A person has to approve it ${page}. Tell them, and look at it later with get_update; asking again changes nothing.`,
    'in-doubt': `It may have run, so it stays counted and is never sent again. A person can resolve it ${page}; do not ask for the same work.`,
    settled: 'It is done. Its quote is used; each further update needs a new quote.',
    released: `It did not run, and nothing was spent. ${newQuote}`,
    refused: `Nothing was spent. This quote stays refused: ${afterRefusal(problem)}`,
    rejected: 'A person rejected it, and nothing was spent. Ask that person before you ask for it again.',
    cancelled: `It was cancelled, and nothing was spent. ${newQuote}`,
    expired: `It was not approved or started in time, and nothing was spent. ${newQuote}`,
  }
  return sentences[state]
}

function afterRefusal(problem: Problem | undefined): string {
  const other = problem?.members.update
  if (problem?.slug === 'duplicate-work' && typeof other === 'string')
    return `call get_update with the id ${other}, and do not ask for the same work while that one stands.`
  // Forcing is for people.
  if (problem?.slug === 'ledger-restored') return 'ask a person.'
  return 'change what the sentence names, or ask a person; then call estimate_update.'
}

export const endsWithoutRun = (state: State): boolean =>
  ['released', 'refused', 'rejected', 'cancelled', 'expired'].includes(state)
