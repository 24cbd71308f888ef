import type { CloudEvent } from '../../../shared/events/event.ts'
import type { World } from '../world.ts'
import { broken, type Row, rowsOf } from './stored.ts'

interface Expected {
  readonly type: string
  readonly update: string
  readonly version: number
}

/** Checks that each version of a record that is an event has arrived, always as the same event, and that nothing else has arrived. */
export function lookAtEvents({ items }: World, arrived: readonly CloudEvent[]): void {
  const expected = new Map(rowsOf(items).flatMap(eventsOf))
  for (const { id, type, subject, recordversion } of arrived) {
    const known = expected.get(id)
    if (!known) broken(`the event ${id} arrived, and no record has it`)
    if (type !== known.type || subject !== known.update || recordversion !== known.version)
      broken(`the event ${id} arrived as ${type} of version ${recordversion} of ${subject}, and is ${known.type}`)
  }
  const ids = new Set(arrived.map(({ id }) => id))
  for (const [id, { type }] of expected) if (!ids.has(id)) broken(`the event ${id}, ${type}, has not arrived`)
}

/** A line that changes neither state nor charge is only a note of the sweep. */
function eventsOf({ id: update, version: last, history }: Row): [id: string, event: Expected][] {
  if (history.length !== last) broken(`${update} has version ${last} and a history of ${history.length} lines`)
  return history.flatMap(({ state, move }, index): [string, Expected][] => {
    const isOver = history[index - 1]?.state === state && ended.includes(state)
    if (isOver && move === undefined) return []
    const version = index + 1
    const type = `unit-guard.update.${isOver ? 'corrected' : state}`
    return [[`${update}-${version}`, { type, update, version }]]
  })
}

const ended = ['settled', 'released', 'refused', 'rejected', 'cancelled', 'expired']
