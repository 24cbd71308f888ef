import { entryIdentity, entryRequest, reconciliation } from '../../../../shared/api/entries.ts'
import { allFaults } from '../../../../shared/guard/fields.ts'
import { units } from '../../../../shared/guard/sentences.ts'
import { rootBudget } from '../../../../shared/ledger/book/definitions.ts'
import type { EntryRequest } from '../../../../shared/ledger/book/entry-request.ts'
import { toNumber } from '../../forms.ts'

/** What a form wants booked, by the API's own schemas and under a key of its own: pressing twice books once. */

export const entryTypes = ['grant', 'transfer', 'external-spend', 'correction', 'reconcile'] as const
export type EntryFormType = (typeof entryTypes)[number]

/** What belongs to the form, not to the entry. */
const ofTheForm = ['form', 'step', 'key']

type Read =
  | { readonly kind: 'request'; readonly request: EntryRequest }
  | { readonly kind: 'wrong'; readonly wrong: readonly string[] }

export function readEntry(
  form: URLSearchParams,
  { budget, by, key }: { budget: string; by: string; key: string },
): Read {
  const { type, ...body } = bodyOf(form)
  if (type === 'reconcile') {
    const parsed = reconciliation.safeParse(body)
    if (!parsed.success) return wrong(parsed.error)
    const asked = { type, ...parsed.data } as const
    return { kind: 'request', request: { ...asked, ...entryIdentity(by, key, asked), budget: rootBudget, by } }
  }
  const parsed = entryRequest.safeParse({ type, ...body })
  if (!parsed.success) return wrong(parsed.error)
  const asked = parsed.data
  return { kind: 'request', request: { ...asked, ...entryIdentity(by, key, { ...asked, budget }), budget, by } }
}

function bodyOf(form: URLSearchParams): Record<string, unknown> {
  const filled = [...form].filter(([name, value]) => value.trim() !== '' && !ofTheForm.includes(name))
  return Object.fromEntries(filled.map(([name, value]) => [name, toMember(name, value.trim())]))
}

function toMember(name: string, value: string): unknown {
  if (name === 'units' || name === 'unitsLeft') return toNumber(value)
  return name === 'wholeChain' ? value === 'yes' : value
}

const memberNames: Readonly<Record<string, string>> = {
  units: 'Units',
  unitsLeft: 'Units left',
  to: 'To',
  reason: 'Reason',
  window: 'Window',
}

const wrong = ({ issues }: Parameters<typeof toSentences>[0]): Read => ({
  kind: 'wrong',
  wrong: toSentences({ issues }),
})

const toSentences = ({ issues }: { issues: Parameters<typeof allFaults>[1] }) =>
  allFaults([], issues).map(({ path, message }) => `${memberNames[path] ?? path}: it ${message}.`)

/** `Grant 500 units to acme this month`: what is asked for, in the imperative. */
export function titleOf(request: EntryRequest): string {
  const { budget } = request
  switch (request.type) {
    case 'grant':
      return `Grant ${units(request.units)} to ${budget}${request.wholeChain ? ' and all above it' : ''} ${spans[request.window]}`
    case 'transfer':
      return `Transfer ${units(request.units)} from ${budget} to ${request.to} ${spans[request.window]}`
    case 'external-spend':
      return `Book ${units(request.units)} spent outside on ${budget}`
    case 'correction':
      return `Correct an entry of ${budget} to ${units(request.units)}`
    case 'reconcile':
      return `Reconcile with ${units(request.unitsLeft)} left at the vendor`
  }
}

export const spans = { month: 'this month', day: 'today', 'next-month': 'next month' } as const
