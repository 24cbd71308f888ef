import type { Guard } from '../../../shared/guard/guard.ts'
import type { EntryType } from '../../../shared/ledger/book/entry.ts'
import type { State } from '../../../shared/ledger/updates/update.ts'

export type Places = Awaited<ReturnType<typeof findPlaces>>

/** The addresses of a month's updates and entries, which have new ids in each run. */
export async function findPlaces({ ledger }: Pick<Guard, 'ledger'>) {
  const { month } = await ledger.view()
  const [updates, entries] = await Promise.all([ledger.updates({}, 200), ledger.entries({ month: month.name }, 200)])

  function updateOf(project: string, state: State): string {
    const found = updates.rows.find((update) => update.project === project && update.state === state)
    if (!found) throw new Error(`the month has no update of ${project} that is ${state}`)
    return `/dashboard/updates/${found.id}`
  }

  function overrun(): string {
    const found = updates.rows.find((update) => update.overrun !== undefined)
    if (!found) throw new Error('the month has no update with an overrun')
    return `/dashboard/updates/${found.id}`
  }

  function entryOf(type: EntryType): string {
    const found = entries.rows.find((entry) => entry.type === type)
    if (!found) throw new Error(`the month has no entry of the type ${type}`)
    return `/dashboard/activity/${found.id}`
  }

  return { updateOf, overrun, entryOf }
}
