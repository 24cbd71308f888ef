import { Webhook } from 'standardwebhooks'
import { describe, expect, expectTypeOf, test } from 'vitest'
import { EventError, type UnitGuardEvent, type Update, verifyEvent } from '../../shared/client/client.ts'
import { updateEvent } from '../../shared/events/event.ts'
import { readSigningKeys, signatureHeaders } from '../../shared/events/signature.ts'
import { eventTypes } from '../../shared/events/types.ts'
import { startProduct } from '../support/product.ts'

const secretOf = (letter: string) => `whsec_${Buffer.from(letter.repeat(24)).toString('base64')}`
const [current, previous, other] = [secretOf('a'), secretOf('b'), secretOf('c')]
const now = Date.parse('2026-11-20T10:00:00Z')

const body = JSON.stringify({
  specversion: '1.0',
  id: 'upd_1-2',
  source: '/unit-guard/led_1',
  type: 'unit-guard.update.settled',
  time: '2026-11-20T09:59:00.000Z',
  subject: 'upd_1',
  datacontenttype: 'application/json',
  recordversion: 2,
  data: { id: 'upd_1', version: 2, project: 'tea – é', state: 'settled', units: { charged: 40 } },
})

/** Signed by the library of Standard Webhooks. */
function signed(text = body, { secrets = [current], at = now, id = 'upd_1-2' } = {}) {
  const sentAt = new Date(at)
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at / 1000)),
    'webhook-signature': secrets.map((secret) => new Webhook(secret).sign(id, sentAt, text)).join(' '),
  }
}

const verify = (headers: object, text: string | Uint8Array = body, secrets: string | string[] = [current]) =>
  verifyEvent(headers as Record<string, string>, text, secrets, { now })

describe('verifyEvent returns the event', () => {
  test('verifyEvent verifies an event that Standard Webhooks signed, from a text and from bytes', async () => {
    const event = await verify(signed())
    expect(event).toEqual(JSON.parse(body))
    expect(await verify(signed(), Buffer.from(body))).toEqual(event)
    expect(await verify(signed(), body, current)).toEqual(event)
    expect(await verify(signed(), body, current.slice('whsec_'.length))).toEqual(event)
  })

  test.each<[string, readonly string[], readonly string[]]>([
    ['the current secret signed, and both are known', [current], [current, previous]],
    ['the previous secret signed, and both are known', [previous], [current, previous]],
    ['both signed, and the previous one is known', [current, previous], [previous]],
    ['both signed, and the current one is known', [current, previous], [current]],
  ])('verifyEvent verifies an event while a secret is rotated: %s', async (_name, signing, known) => {
    expect(await verify(signed(body, { secrets: [...signing] }), body, [...known])).toMatchObject({ id: 'upd_1-2' })
  })

  test('verifyEvent verifies an event among signatures of other versions and broken signatures', async () => {
    const headers = signed()
    const signature = `v1a,abc v2,${headers['webhook-signature'].slice(3)} v1,§ v1, ${headers['webhook-signature']}`
    expect(await verify({ ...headers, 'webhook-signature': signature })).toMatchObject({ id: 'upd_1-2' })
  })

  test('verifyEvent verifies an event with headers of fetch, of node, and in capitals', async () => {
    const headers = signed()
    expect(await verifyEvent(new Headers(headers), body, current, { now })).toMatchObject({ id: 'upd_1-2' })
    const capitals = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), [value]]))
    expect(await verifyEvent(capitals, body, current, { now })).toMatchObject({ id: 'upd_1-2' })
  })

  test.each([-300, 300])('verifyEvent verifies an event that was sent %i seconds away from now', async (seconds) => {
    expect(await verify(signed(body, { at: now + seconds * 1000 }))).toMatchObject({ id: 'upd_1-2' })
  })

  test('verifyEvent verifies an event that Unit Guard itself signed', async () => {
    const { guard, update } = await startProduct()
    const { id } = (await update({ kind: 'ranking', project: 'acme' })).body.updates[0]
    const record = await guard.ledger.update(id)
    const made = record && updateEvent(record, 2, '/unit-guard/led_1')
    const text = JSON.stringify(made)
    const read = async () => ({ current: JSON.stringify({ current, previous }), previous: null })
    const keys = await readSigningKeys({ read, reread: read }, 'unit-guard/events/x')
    const headers = signatureHeaders({ id: made?.id ?? '', body: text, now }, keys)
    for (const secret of [current, previous]) {
      const event = await verify(headers, text, secret)
      expect(event.type === 'unit-guard.update.settled' && event.data.units.charged).toBe(40)
    }
  })
})

describe('verifyEvent and a wrong event', () => {
  const { 'webhook-id': _id, ...withoutId } = signed()
  const { 'webhook-timestamp': _time, ...withoutTime } = signed()
  const { 'webhook-signature': _signature, ...withoutSignature } = signed()
  const old = 'the event was sent 301 seconds ago, and 300 are allowed: check the clock'
  const unsigned = 'no signature in webhook-signature matches'

  test.each<[string, object, string, EventError['kind'], string]>([
    ['no id', withoutId, body, 'header', 'the header webhook-id is missing'],
    ['no time', withoutTime, body, 'header', 'the header webhook-timestamp is missing'],
    ['no signature', withoutSignature, body, 'header', 'the header webhook-signature is missing'],
    ['an empty signature', { ...signed(), 'webhook-signature': '' }, body, 'header', 'webhook-signature is missing'],
    ['two ids', { ...signed(), 'webhook-id': ['a', 'b'] }, body, 'header', 'the header webhook-id is missing'],
    ['an old time', signed(body, { at: now - 301_000 }), body, 'timestamp', old],
    ['a time ahead', signed(body, { at: now + 301_000 }), body, 'timestamp', 'was sent 301 seconds in the future'],
    ['no number as time', { ...signed(), 'webhook-timestamp': '1e9' }, body, 'timestamp', 'in seconds since 1970'],
    ['a changed time', { ...signed(), 'webhook-timestamp': String(now / 1000 + 1) }, body, 'signature', unsigned],
    ['a changed id', { ...signed(), 'webhook-id': 'upd_1-3' }, body, 'signature', unsigned],
    ['a changed body', signed(), `${body} `, 'signature', unsigned],
    ['another secret', signed(body, { secrets: [other] }), body, 'signature', unsigned],
    ['a signature of another version', { ...signed(), 'webhook-signature': 'v2,AAAA' }, body, 'signature', unsigned],
    ['a cut signature', { ...signed(), 'webhook-signature': 'v1,AAAA' }, body, 'signature', unsigned],
    ['a body that is not JSON', signed('<p>'), '<p>', 'body', 'it is not JSON'],
    ['a body that is not an event', signed('null'), 'null', 'body', 'not the event that webhook-id names'],
    ['the event of another id', signed(body, { id: 'upd_1-3' }), body, 'body', 'not the event that webhook-id names'],
  ])('verifyEvent throws an EventError for %s', async (_name, headers, text, kind, message) => {
    const error = await verify(headers, text).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(EventError)
    expect(error).toMatchObject({ kind, message: expect.stringContaining(message) })
  })

  test('verifyEvent throws an EventError for a time beyond the given tolerance', async () => {
    const headers = signed(body, { at: now - 11_000 })
    await expect(verifyEvent(headers, body, current, { now, toleranceSeconds: 10 })).rejects.toThrow('10 are allowed')
    await expect(verifyEvent(headers, body, current, { now, toleranceSeconds: 11 })).resolves.toBeDefined()
    await expect(verifyEvent(headers, body, current)).rejects.toThrow('300 are allowed')
  })
})

describe('verifyEvent throws a TypeError that shows no secret', () => {
  test.each<[string, unknown]>([
    ['no secret', []],
    ['a secret of another form', 'canary-secret'],
    ['a short secret', 'whsec_Y2FuYXJ5'],
    ['an undefined secret', [undefined]],
    ['a secret that is not base64', `whsec_${'='.repeat(40)}`],
  ])('verifyEvent throws a TypeError that shows no secret for %s', async (_name, secrets) => {
    const error = await verify(signed(), body, secrets as string[]).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(TypeError)
    expect(String(error)).not.toMatch(/canary|Y2FuYXJ5/)
  })

  test('verifyEvent throws a TypeError for a body that was parsed', async () => {
    await expect(verify(signed(), JSON.parse(body))).rejects.toThrow('before they are parsed')
  })
})

test('the client knows the type of every event', () => {
  type Known = UnitGuardEvent['type']
  expectTypeOf<Known>().toEqualTypeOf<`unit-guard.${(typeof eventTypes)[number]}`>()
  type Settled = Extract<UnitGuardEvent, { type: `${string}update.${string}` }>
  expectTypeOf<Settled['data']>().toEqualTypeOf<Update>()
  expect(eventTypes).toContain('update.corrected')
})
