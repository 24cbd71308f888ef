import type { Audit, Budget, Entry, Plan, State, Update } from './answers.ts'

/** CloudEvents 1.0. `data` is what the API shows when the event is sent. */
interface EventOf<Type extends string, Data> {
  specversion: '1.0'
  /** The same for every delivery of the event. */
  id: string
  /** The ledger, such as `/unit-guard/led_…`. */
  source: string
  type: `unit-guard.${Type}`
  time: string
  /** The update's id, or the name of the budget, plan, project or caller. */
  subject: string
  datacontenttype: 'application/json'
  /** Of two events about the same subject, the later one has the higher number. */
  recordversion?: number
  /** The trace of the request that asked for the update (W3C Trace Context). */
  traceparent?: string
  data: Data
}

interface Deleted {
  name: string
  deleted: true
}

/** Later versions may send more types: ignore unknown ones. */
export type UnitGuardEvent =
  | EventOf<`update.${State}` | 'update.corrected' | 'update.not-delivered', Update>
  | EventOf<'budget.changed' | 'budget.frozen' | 'budget.unfrozen', (Budget | Deleted) & { change: Entry }>
  | EventOf<
      'budget.threshold',
      (Budget | Deleted) & {
        threshold: { window: 'month' | 'day'; percent: number; used: number; of: number; resetsAt: string }
      }
    >
  | EventOf<
      'budget.will-run-out',
      (Budget | Deleted) & {
        /** `isAtLeast`: prices are missing, so it may run out earlier, and lack more. */
        willRunOut: { at: string; plan?: string; left: number; short: number; isAtLeast?: true; resetsAt: string }
      }
    >
  | EventOf<'plan.finished' | 'plan.missed', (Plan | Deleted) & { occurrence: NonNullable<Plan['last']> }>
  | EventOf<'plan.paused' | 'plan.resumed', (Plan | Deleted) & { change: Entry }>
  | EventOf<'project.price-jumped', Update & { priceJump: { units: number; before: number } }>
  | EventOf<
      'caller.repeats',
      { sub: string; repeats: { budget: string; project: string; count: number; since: string } }
    >
  | EventOf<'audit.failed', Audit>

/** The message says what is wrong. Answer 400, and do not use the request. */
export class EventError extends Error {
  override readonly name = 'EventError'
  constructor(
    readonly kind: 'header' | 'timestamp' | 'signature' | 'body',
    message: string,
  ) {
    super(message)
  }
}

export interface VerifyOptions {
  /** In milliseconds since 1970. Default: the current time. */
  now?: number
  /** How far the time of sending may be from `now`, before and after. Default: five minutes. */
  toleranceSeconds?: number
}

type EventHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>

/**
 * Verifies an event (Standard Webhooks) and returns it. Keep its `id`: an event may come more than once.
 *
 * @param body as it came, before anything parsed it.
 * @param secrets `whsec_…`; the current and the previous one while the secret is rotated.
 * @throws EventError for a request that must not be used; TypeError for a mistake of the program.
 */
export async function verifyEvent(
  headers: EventHeaders,
  body: string | Uint8Array,
  secrets: string | readonly string[],
  { now = Date.now(), toleranceSeconds = 300 }: VerifyOptions = {},
): Promise<UnitGuardEvent> {
  if (typeof body !== 'string' && !(body instanceof Uint8Array))
    throw new TypeError('body must be the text or the bytes of the request, before they are parsed')
  const keys = await keysOf(typeof secrets === 'string' ? [secrets] : secrets)
  const id = headerOf(headers, 'webhook-id')
  const timestamp = headerOf(headers, 'webhook-timestamp')
  const signatures = headerOf(headers, 'webhook-signature')
  checkTime(timestamp, now, toleranceSeconds)
  const signed = joined(`${id}.${timestamp}.`, body)
  if (!(await isSigned(signed, signatures, keys))) {
    const why = 'another secret was used, or the body was changed or parsed before'
    throw new EventError('signature', `no signature in webhook-signature matches: ${why}`)
  }
  return read(body, id)
}

type Key = Awaited<ReturnType<typeof crypto.subtle.importKey>>

const utf8 = new TextEncoder()

async function keysOf(secrets: readonly string[]): Promise<Key[]> {
  if (secrets.length === 0) throw new TypeError('secrets must have at least one secret')
  return Promise.all(
    secrets.map((secret) => {
      const [, text] = /^(?:whsec_)?([A-Za-z0-9+/]{32,}={0,2})$/.exec(secret ?? '') ?? []
      const bytes = text === undefined ? null : bytesOf(text)
      // The message does not show the secret.
      if (!bytes) throw new TypeError('a secret must be at least 24 bytes in base64, with or without whsec_ before it')
      return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify'])
    }),
  )
}

function headerOf(headers: EventHeaders, name: string): string {
  const value = headers instanceof Headers ? headers.get(name) : plainHeader(headers, name)
  if (typeof value === 'string' && value !== '') return value
  throw new EventError('header', `the header ${name} is missing`)
}

function plainHeader(headers: Exclude<EventHeaders, Headers>, name: string) {
  const [, value] = Object.entries(headers).find(([each]) => each.toLowerCase() === name) ?? []
  return Array.isArray(value) && value.length === 1 ? value[0] : value
}

/** Refuses old requests, because an attacker may have recorded one and send it again. */
function checkTime(timestamp: string, now: number, toleranceSeconds: number): void {
  if (!/^\d{1,12}$/.test(timestamp))
    throw new EventError('timestamp', 'webhook-timestamp must be a time in seconds since 1970')
  const aheadSeconds = Number(timestamp) - Math.floor(now / 1000)
  if (Math.abs(aheadSeconds) <= toleranceSeconds) return
  const how = aheadSeconds < 0 ? 'ago' : 'in the future'
  const seconds = `${Math.abs(aheadSeconds)} seconds ${how}`
  throw new EventError(
    'timestamp',
    `the event was sent ${seconds}, and ${toleranceSeconds} are allowed: check the clock`,
  )
}

/** `verify` compares in constant time. */
async function isSigned(signed: Uint8Array<ArrayBuffer>, header: string, keys: readonly Key[]): Promise<boolean> {
  const signatures = header.split(' ').flatMap((each) => {
    const bytes = each.startsWith('v1,') ? bytesOf(each.slice('v1,'.length)) : null
    return bytes ? [bytes] : []
  })
  const found = await Promise.all(
    signatures.flatMap((signature) => keys.map((key) => crypto.subtle.verify('HMAC', key, signature, signed))),
  )
  return found.includes(true)
}

/** `null`: not base64. */
function bytesOf(base64: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
  } catch {
    return null
  }
}

function joined(start: string, body: string | Uint8Array): Uint8Array<ArrayBuffer> {
  const [first, second] = [utf8.encode(start), typeof body === 'string' ? utf8.encode(body) : body]
  const both = new Uint8Array(first.length + second.length)
  both.set(first)
  both.set(second, first.length)
  return both
}

function read(body: string | Uint8Array, id: string): UnitGuardEvent {
  let event: unknown
  try {
    event = JSON.parse(typeof body === 'string' ? body : new TextDecoder('utf-8', { fatal: true }).decode(body))
  } catch {
    throw new EventError('body', 'the body is signed, but it is not JSON')
  }
  const { id: own, type, data } = (event ?? {}) as Partial<UnitGuardEvent>
  if (own === id && typeof type === 'string' && typeof data === 'object' && data !== null)
    return event as UnitGuardEvent
  throw new EventError('body', 'the body is signed, but it is not the event that webhook-id names')
}
