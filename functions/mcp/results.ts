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
    { type: 'text', text: oneLine(sentence) },
    { type: 'text', text: asData(content) },
  ],
  structuredContent: content,
})

/** The sentence and the members of a problem of the API, and what the agent should do next. */
export const refused = (problem: Problem, next: string, more: Record<string, unknown> = {}): ToolResult => ({
  ...answered(`${problem.detail} ${next}`, { ...showProblem(problem), ...more, next }),
  isError: true,
})

const maxSentence = 1_500
const maxServiceBody = 1_000

/** Names and reasons are other people's texts: they must not look like lines of their own, nor hide anything. */
const oneLine = (text: string): string => {
  const plain = text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
  return plain.length > maxSentence ? `${plain.slice(0, maxSentence)}…` : plain
}

/** JSON in which every invisible character is escaped. */
const asData = (value: unknown): string =>
  JSON.stringify(value).replace(/[\u007f-\u009f\p{Cf}\p{Zl}\p{Zp}]/gu, (found) =>
    Array.from({ length: found.length }, (_, at) => `\\u${found.charCodeAt(at).toString(16).padStart(4, '0')}`).join(
      '',
    ),
  )

/** An agent needs no more of the service's answer than its beginning. */
export function shownUpdate(update: Update) {
  const shown = showUpdate(update)
  const { service } = shown
  return service && service.body.length > maxServiceBody
    ? { ...shown, service: { ...service, body: service.body.slice(0, maxServiceBody), truncated: true as const } }
    : shown
}

interface Place {
  readonly dashboardUrl: string | null
}

/** What an agent should do about an update in this state. */
export function nextFor({ id, state }: Update, { dashboardUrl }: Place): string {
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
    refused: 'Nothing was spent. This quote stays refused: change what the sentence names, then call estimate_update.',
    rejected: 'A person rejected it, and nothing was spent. Ask that person before you ask for it again.',
    cancelled: `It was cancelled, and nothing was spent. ${newQuote}`,
    expired: `It was not approved or started in time, and nothing was spent. ${newQuote}`,
  }
  return sentences[state]
}

export const endsWithoutRun = (state: State): boolean =>
  ['released', 'refused', 'rejected', 'cancelled', 'expired'].includes(state)
