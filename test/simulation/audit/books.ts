import { broken, type Counter, countersOf, definitionsIn, type Items, type Row, rowsOf } from './stored.ts'

export function lookAtBooks(items: Items, excused: ReadonlySet<string>): void {
  const rows = rowsOf(items)
  const entries = [...items.values()].filter(({ sk }) => sk === 'entry') as unknown as Entry[]
  const { budgets } = definitionsIn(items)
  for (const book of items.values()) {
    if (book.pk !== 'book') continue
    const isOwn = (month: string, day: string | undefined, window: string) =>
      month === book.sk && (window === 'month' || day === book.today)
    for (const [window, budget, counter] of countersOf(book)) {
      const about = `${window} ${budget}`
      const own = rows.filter(({ hold, month }) => hold?.budgets.includes(budget) && isOwn(month, hold.day, window))
      const moved = entries
        .filter(({ month, day }) => isOwn(month, day, window))
        .flatMap(({ moves }) => moves.filter((move) => move.budget === budget && move.window === window))
      const isEnforced = budgets[budget]?.enforce !== false
      lookAtCounter(about, counter, !isEnforced || excused.has(budget) || rows.some(cameToLightOn(budget)))
      lookAtSums(about, counter, own, moved)
    }
  }
}

interface Entry {
  readonly month: string
  readonly day: string
  readonly moves: readonly {
    readonly budget: string
    readonly window: string
    readonly move: { readonly granted?: number; readonly spent?: number; readonly once?: number }
  }[]
}

/** An update cost more than was held or charged, or ran although a person said otherwise. Others may have spent its units meanwhile. */
const cameToLightOn =
  (budget: string) =>
  ({ overrun, corrected, chargeCorrected, hold }: Row): boolean =>
    (overrun !== undefined || corrected === true || chargeCorrected !== undefined) &&
    hold?.budgets.includes(budget) === true

function lookAtCounter(about: string, { l, g, a, h, i, s, o = 0 }: Counter, mayOverspend: boolean): void {
  if (![g, a, h, i, s, o].every(Number.isSafeInteger)) broken(`${about}: not whole numbers`)
  if (a + h + i + s !== (l === 'u' ? 0 : l) + g) broken(`${about}: ${a}+${h}+${i}+${s} is not ${l}+${g}`)
  if (h < 0 || i < 0 || s < 0 || o < 0) broken(`${about}: something is negative`)
  if (l !== 'u' && o > 0 && a > 0) broken(`${about}: ${Math.min(o, a)} one-time units are left to other updates`)
  if (l !== 'u' && a < 0 && !mayOverspend) broken(`${about}: overspent by ${-a}`)
}

function lookAtSums(about: string, { g, h, i, s, o = 0 }: Counter, own: readonly Row[], moved: Entry['moves']): void {
  const heldBy = (state: string) =>
    own.reduce((sum, each) => sum + (each.state === state ? (each.hold?.units ?? 0) : 0), 0)
  const entered = (what: 'granted' | 'spent' | 'once') => moved.reduce((sum, { move }) => sum + (move[what] ?? 0), 0)
  const held = heldBy('running')
  const inDoubt = heldBy('in-doubt')
  const charged = own.reduce((sum, each) => sum + (each.charged ?? 0), 0) + entered('spent')
  if (held !== h) broken(`${about}: ${h} held, and the records hold ${held}`)
  if (inDoubt !== i) broken(`${about}: ${i} in doubt, and the records have ${inDoubt}`)
  if (charged !== s) broken(`${about}: ${s} spent, and records and entries have ${charged}`)
  if (entered('granted') !== g) broken(`${about}: ${g} granted, and the entries have ${entered('granted')}`)
  if (entered('once') !== o) broken(`${about}: ${o} granted once, and the entries have ${entered('once')}`)
}
