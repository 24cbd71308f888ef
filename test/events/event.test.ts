import { readFileSync } from 'node:fs'
import { Ajv } from 'ajv'
import { Webhook } from 'standardwebhooks'
import { describe, expect, test } from 'vitest'
import { createEventReader, eventIdOf, updateEvent } from '../../shared/events/event.ts'
import { readSigningKeys, signatureHeaders } from '../../shared/events/signature.ts'
import { eventTypes, passes, typeOfVersion } from '../../shared/events/types.ts'
import type { HistoryLine } from '../../shared/ledger/updates/update.ts'
import { startProduct } from '../support/product.ts'

/** The official JSON schema of CloudEvents 1.0.2. */
const schema = JSON.parse(readFileSync(new URL('./cloudevents-1.0.2.schema.json', import.meta.url), 'utf8'))
const formats = {
  'date-time': (text: string) => text === new Date(text).toISOString(),
  'uri-reference': (text: string) => URL.canParse(text, 'https://x'),
  uri: (text: string) => URL.canParse(text),
}
const isCloudEvent = new Ajv({ strict: true, strictTypes: false, formats }).compile(schema)

const line = (state: HistoryLine['state'], rest: Partial<HistoryLine> = {}): HistoryLine => ({
  state,
  at: 0,
  by: 'ada',
  ...rest,
})

describe('the type of a version', () => {
  test('the type of an event is the state of its line', () => {
    const history = [line('awaiting-approval'), line('requested'), line('running'), line('settled')]
    expect([0, 1, 2, 3, 4, 5].map((version) => typeOfVersion({ history }, version))).toEqual([
      null,
      'update.awaiting-approval',
      'update.requested',
      'update.running',
      'update.settled',
      null,
    ])
  })

  test('the type is update.corrected if a line moves units after the end, and null if it moves no units', () => {
    const history = [line('running'), line('released'), line('released'), line('released', { move: { spent: 40 } })]
    expect([2, 3, 4].map((version) => typeOfVersion({ history }, version))).toEqual([
      'update.released',
      null,
      'update.corrected',
    ])
  })

  test('a type passes a filter that names it or its first word', () => {
    expect(passes(['update.settled'], 'update.settled')).toBe(true)
    expect(passes(['update.settled'], 'update.released')).toBe(false)
    expect(eventTypes.filter((type) => passes(['plan.*'], type))).toEqual([
      'plan.paused',
      'plan.resumed',
      'plan.finished',
      'plan.missed',
    ])
  })
})

describe('the event of an update', () => {
  test('an event of an update is a CloudEvent with the update as the API shows it', async () => {
    const { services, guard, call, update } = await startProduct()
    const { body } = await update({ kind: 'ranking', project: 'acme' })
    const { id } = body.updates[0]
    const eventOf = createEventReader(services)
    const event = await eventOf({ kind: 'update', update: id, version: 2 })
    const { ledger } = (await guard.ledger.view()).definitions.identity ?? {}
    expect(ledger).toMatch(/^led_/)
    expect(event).toEqual({
      specversion: '1.0',
      id: `${id}-2`,
      source: `/unit-guard/${ledger}`,
      type: 'unit-guard.update.settled',
      time: '2026-11-20T10:00:00.000Z',
      subject: id,
      datacontenttype: 'application/json',
      recordversion: 2,
      data: (await call('GET', `/updates/${id}`)).body,
    })
    expect(isCloudEvent(event), JSON.stringify(isCloudEvent.errors)).toBe(true)
    expect(isCloudEvent({ ...event, source: '' })).toBe(false)
    expect(await eventOf({ kind: 'update', update: id, version: 3 })).toBeNull()
    expect(await eventOf({ kind: 'update', update: 'upd_none', version: 1 })).toBeNull()
  })

  test('an event that is built later keeps its id and time, and shows the update’s present state', async () => {
    const { guard, update } = await startProduct()
    const { id } = (await update({ kind: 'ranking', project: 'acme' })).body.updates[0]
    const record = await guard.ledger.update(id)
    if (!record) throw new Error('no record')
    const first = updateEvent(record, 1, '/x')
    expect(first).toMatchObject({ id: `${id}-1`, type: 'unit-guard.update.running', recordversion: 1 })
    expect(first?.data).toMatchObject({ state: 'settled', version: 2 })
  })

  test('an event id contains no full stop', () => {
    expect(eventIdOf({ kind: 'announcement', id: 'threshold#seo.de#80' })).toMatch(/^evt_[0-9a-z]{26}$/)
    expect(eventIdOf({ kind: 'entry', id: 'ent_1', subject: 'seo' })).not.toBe(
      eventIdOf({ kind: 'announcement', id: 'ent_1' }),
    )
  })
})

describe('the signature', () => {
  const [first, second] = ['a', 'b'].map((letter) => `whsec_${Buffer.from(letter.repeat(24)).toString('base64')}`)
  const [current = '', previous = ''] = [first, second]
  const secretOf = (text: string) => {
    const read = async () => ({ current: text, previous: null })
    return { read, reread: read }
  }
  const signed = async (text: string, now = Date.now()) => {
    const body = '{"id":"upd_1-1"}'
    const keys = await readSigningKeys(secretOf(text), 'unit-guard/events/x')
    return { body, headers: signatureHeaders({ id: 'upd_1-1', body, now }, keys) }
  }

  test('the library of Standard Webhooks accepts a signature', async () => {
    const { body, headers } = await signed(current)
    expect(new Webhook(current).verify(body, headers)).toEqual({ id: 'upd_1-1' })
    expect(() => new Webhook(previous).verify(body, headers)).toThrow('No matching signature found')
    expect(() => new Webhook(current).verify(`${body} `, headers)).toThrow('No matching signature found')
    expect(headers['webhook-signature']).toBe(`v1,${headers['webhook-signature'].split(',')[1]}`)
  })

  test('a signature is made with both keys while one is rotated', async () => {
    const { body, headers } = await signed(JSON.stringify({ current, previous }))
    expect(new Webhook(current).verify(body, headers)).toEqual({ id: 'upd_1-1' })
    expect(new Webhook(previous).verify(body, headers)).toEqual({ id: 'upd_1-1' })
    expect(headers['webhook-signature'].split(' ')).toHaveLength(2)
  })

  test('a signature can use the key that the stack generates, which is base64 without a prefix', async () => {
    const generated = 'aB3'.repeat(22).slice(0, 64)
    const { body, headers } = await signed(JSON.stringify({ current: generated }))
    expect(new Webhook(generated).verify(body, headers)).toEqual({ id: 'upd_1-1' })
    expect(new Webhook(`whsec_${generated}`).verify(body, headers)).toEqual({ id: 'upd_1-1' })
  })

  test('a signature has the time of its attempt', async () => {
    const { body, headers } = await signed(current, Date.now() - 600_000)
    expect(() => new Webhook(current).verify(body, headers)).toThrow('Message timestamp too old')
  })

  test.each([
    '',
    'whsec_',
    'secret',
    'whsec_c2hvcnQ=',
    `whsec_${Buffer.alloc(65).toString('base64')}`,
    'whsec_!!',
    '{',
    '{}',
    '{"current":"x"}',
    JSON.stringify({ current, other: previous }),
    JSON.stringify({ previous: current }),
  ])('a signature needs a key of 24 to 64 bytes: %j', async (text) => {
    await expect(signed(text)).rejects.toThrow('the secret unit-guard/events/x could not be read')
  })
})
