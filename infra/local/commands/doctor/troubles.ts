import type { NotedTrouble } from '../../../../shared/guard/troubles/noted.ts'
import { type MachineFacts, type TroubleSlug, troublesIn } from '../../../../shared/guard/troubles/table.ts'
import type { View } from '../../../../shared/ledger/book/view.ts'

/** Doctor looks for these itself, and says why. */
const lookedFor: ReadonlySet<TroubleSlug> = new Set([
  'ledger',
  'secret',
  'clock',
  'service-token',
  'service-unreachable',
  'account-frozen',
])

export function troublesInWords(seen: {
  readonly view?: View
  readonly machine?: MachineFacts
  readonly noted: readonly NotedTrouble[]
  readonly now: number
}): string[] {
  const { view, machine, noted, now } = seen
  if (machine === undefined) return []
  const definitions = view?.definitions ?? null
  return troublesIn({ now, startedAt: 0, machine, definitions, noted, clockIsOff: false })
    .filter(({ slug }) => !lookedFor.has(slug))
    .map(({ sentence, remedy }) => `${sentence} ${remedy}`)
}
