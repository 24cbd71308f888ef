import { readQuote } from '../../../shared/auth/signed-quotes.ts'
import { broken, type Items, rowsOf } from './stored.ts'

/** A quote that an agent was given. */
export interface Given {
  readonly quote: string
  readonly caller: string
  readonly units: number
  /** The update in the first answer to the quote. */
  update?: string
}

/** The answer of a tool. */
export interface Told {
  readonly isError: boolean
  readonly sentence: string
  readonly data: {
    readonly id?: string
    readonly updates?: readonly { readonly id: string }[]
    readonly type?: string
    readonly next?: unknown
    readonly quote?: string
    readonly units?: number
  }
}

const mayComeLater = ['/problems/ledger-unavailable', '/problems/undecided']

/**
 * Checks that a quote is good for one update of its caller at most at its price, and that each answer says what to do next. No answer may
 * claim that nothing was spent after a run was sent.
 */
export function lookAtTold(
  items: Items,
  quotes: readonly Given[],
  { quote, caller, told }: { readonly quote: string; readonly caller: string; readonly told: Told },
): void {
  const { sentence, data, isError } = told
  const { next, type = '' } = data
  if (typeof next !== 'string' || !/^[A-Z].{20,}\.$/.test(next) || !sentence.includes(` ${next}`))
    broken(`no advice: ${sentence}`)
  if (isError && (!/^\/problems\/[a-z-]+$/.test(type) || type === '/problems/internal')) broken(`${type}: ${sentence}`)
  const id = data.updates?.[0]?.id ?? data.id
  // The cool-down answers with the update of another quote.
  const isOwn = !next.startsWith('It was done a short while ago')
  const given = quotes.find((each) => each.quote === quote)
  const own = quotes.find((each) => readQuote(each.quote)?.id === readQuote(quote)?.id)
  if (given?.caller !== caller && id !== undefined) broken(`${caller} used a quote of ${given?.caller ?? 'no one'}`)
  if (given?.caller === caller && isOwn) {
    if (given.update !== undefined && given.update !== id && !mayComeLater.includes(type))
      broken(`a quote was answered with ${given.update}, then with ${id ?? sentence}`)
    if (id !== undefined) given.update ??= id
  }
  const row = rowsOf(items).find((each) => each.id === own?.update)
  if (own && row?.hold && row.hold.units > own.units) broken(`${row.hold.units} units held for a quote of ${own.units}`)
  if (['running', 'in-doubt', 'settled'].includes(row?.state ?? '') && /nothing was spent/i.test(sentence))
    broken(`${row?.id} is ${row?.state}, and an answer said: ${sentence}`)
}
