import { list } from '../../guard/sentences.ts'
import type { Released } from '../../ledger/updates/news.ts'
import { type Message, message, section } from '../blocks.ts'
import { code } from '../text.ts'
import { quote } from './updates.ts'
import { capital, countOf, person } from './words.ts'

/** @param payer as a clause. */
export function releasedMessage({
  budget,
  otherBudgets,
  projects,
  more,
  by,
  reason,
  payer,
}: Omit<Released, 'kind'> & { readonly payer: string }): Message {
  const named = [...projects.map((project) => code(project)), ...(more > 0 ? [`${countOf(more, 'more project')}`] : [])]
  const from = `the budget ${code(budget)}${otherBudgets > 0 ? ` and ${countOf(otherBudgets, 'other budget')}` : ''}`
  const lead = `${capital(person(by))} took ${list(named)} out of ${from}.`
  const effect = `No budget lists ${projects.length + more === 1 ? 'it' : 'them'}, and from now on ${payer}.`
  return message(`${lead} ${effect}`, [section(`${lead} ${effect}${quote(reason)}`)])
}
