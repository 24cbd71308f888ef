import { showUpdate } from '../api/to-json.ts'
import type { Definitions } from '../ledger/definitions/definitions.ts'
import type { Update } from '../ledger/updates/update.ts'
import { toRfc3339 } from '../platform/clock.ts'
import { digest } from '../platform/ids.ts'
import type { EventReference } from './deliveries.ts'
import { type Fact, factOf } from './facts.ts'
import type { FactParts } from './records.ts'
import { type EventType, typeOfVersion } from './types.ts'

/**
 * CloudEvents 1.0, JSON format, with the extension attributes `recordversion` and `traceparent`.
 *
 * @see https://github.com/cloudevents/spec/blob/ce@v1.0.2/cloudevents/formats/json-format.md
 */
export interface CloudEvent {
  readonly specversion: '1.0'
  readonly id: string
  readonly source: string
  readonly type: `unit-guard.${EventType | 'test'}`
  readonly time: string
  /** The id of the update, or the name of the budget, plan, project or caller. */
  readonly subject: string
  readonly datacontenttype: 'application/json'
  /** A later event about the same subject has a higher number. */
  readonly recordversion?: number
  readonly traceparent?: string
  /** The record at the time of sending, in the form of the API. */
  readonly data: object
}

/** Every attempt has the same id. The id has no full stop, because full stops separate the parts of the signed text. */
export function eventIdOf(reference: EventReference): string {
  if (reference.kind === 'update') return `${reference.update}-${reference.version}`
  const subject = reference.kind === 'entry' ? [reference.subject] : []
  return `evt_${digest('event', reference.kind, reference.id, ...subject)}`
}

/** `null`: there is no such event. */
export function updateEvent(update: Update, version: number, source: string): CloudEvent | null {
  const type = typeOfVersion(update, version)
  const line = update.history[version - 1]
  if (type === null || !line) return null
  return {
    specversion: '1.0',
    id: eventIdOf({ kind: 'update', update: update.id, version }),
    source,
    type: `unit-guard.${type}`,
    time: toRfc3339(line.at),
    subject: update.id,
    datacontenttype: 'application/json',
    recordversion: version,
    ...(update.traceparent !== undefined && { traceparent: update.traceparent }),
    data: showUpdate(update),
  }
}

export const sourceOf = ({ identity }: Pick<Definitions, 'identity'>): string => `/unit-guard/${identity?.ledger ?? ''}`

/** Members for log lines about the event. */
export const aboutEvent = ({ type, subject, traceparent }: CloudEvent) => ({
  ...(type.startsWith('unit-guard.update.') && { update: subject }),
  ...(traceparent !== undefined && { traceparent }),
})

/** Builds an event from the record that it refers to. `null`: there is no such event. */
export type EventOf = (reference: EventReference) => Promise<CloudEvent | null>

export function createEventReader(parts: FactParts): EventOf {
  const { ledger } = parts.guard
  const source = async () => sourceOf((ledger.lastSeen() ?? (await ledger.view())).definitions)

  return async (reference) => {
    if (reference.kind === 'update') {
      const update = await ledger.update(reference.update)
      return update && updateEvent(update, reference.version, await source())
    }
    const fact = await factOf(parts, reference)
    return fact && factEvent(fact, eventIdOf(reference), await source())
  }
}

const factEvent = ({ type, at, data, ...fact }: Fact, id: string, source: string): CloudEvent => ({
  specversion: '1.0',
  id,
  source,
  type: `unit-guard.${type}`,
  time: toRfc3339(at),
  datacontenttype: 'application/json',
  ...fact,
  data,
})
