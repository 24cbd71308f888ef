import { type Change, idIn } from '../ledger/stream.ts'
import { announcements } from '../ledger/updates/tasks.ts'
import { once } from '../platform/parallel.ts'
import type { Channel } from '../services/channel.ts'
import type { Services } from '../services/services.ts'
import type { Events, OpenEvents } from './deliver.ts'
import type { EventReference } from './deliveries.ts'
import type { Network } from './webhook.ts'

export type { OpenEvents, TargetStatus } from './deliver.ts'

const noEvents: Channel = { name: 'events', tell: async () => [], sweep: async () => {} }

/** Without settings nothing is loaded, read or sent. */
export function createEvents(services: Services, network?: Network): Channel {
  if (services.eventSettings.EVENT_TARGETS === undefined) return noEvents
  return channelOf(openLater(services, network))
}

export function channelOf(open: () => Promise<Events>): Channel {
  return {
    name: 'events',
    tell: async (changes) => {
      const told = changes.flatMap((change) =>
        referencesOf(change).map((reference) => ({ reference, sequenceNumber: change.sequenceNumber })),
      )
      if (told.length === 0) return []
      const events = await open()
      const lost = await events.tell(told.map(({ reference }) => reference))
      return told.filter(({ reference }) => lost.has(reference)).map(({ sequenceNumber }) => sequenceNumber)
    },
    sweep: async (endsAt) => (await open()).sweep(endsAt),
  }
}

/** A version of an update, an announcement and each subject of an entry may be events. */
function referencesOf({ pk, version, isNew, subjects }: Change): EventReference[] {
  const update = idIn(pk, 'update')
  if (update !== null) return version === undefined ? [] : [{ kind: 'update', update, version }]
  const announcement = isNew ? idIn(pk, announcements.name) : null
  if (announcement !== null) return [{ kind: 'announcement', id: announcement }]
  const entry = isNew ? idIn(pk, 'entry') : null
  return entry === null ? [] : subjects.map((subject) => ({ kind: 'entry', id: entry, subject }))
}

/** @throws WrongFile */
export const openEvents = (services: Services, network?: Network): Promise<OpenEvents> => openLater(services, network)()

const openLater = (services: Services, network?: Network) =>
  once(async () => (await import('./deliver.ts')).open(services, network))
