import { expect, test } from 'vitest'
import { examineEvents } from '../../infra/local/commands/events/doctor-events.ts'
import { guardSettings } from '../../shared/guard/options.ts'
import { parseSettings } from '../../shared/platform/settings.ts'
import { signingKey, targetAt } from '../support/receiver.ts'
import { startTestSecrets } from '../support/secrets.ts'
import { writeFileOf } from '../support/written-file.ts'

const addresses: Readonly<Record<string, readonly string[]>> = {
  'warehouse.example': ['93.184.215.14', '2606:2800:21f:cb07:6820:80da:af6b:8b2c'],
  'inside.example': ['93.184.215.14', '10.0.0.8'],
}

async function examine(target: object, secret?: string, env: Record<string, string> = {}) {
  const secrets = await startTestSecrets(secret === undefined ? {} : { 'unit-guard/events/warehouse': secret })
  const settings = parseSettings(guardSettings, {
    TABLE_NAME: 't',
    ACCOUNT_UNITS_PER_MONTH: '1',
    TRACKING_BASE_URL: 'https://service.example/v3',
    SECRETS_ENDPOINT: secrets.endpoint,
    EVENT_TARGETS: await writeFileOf('targets', [target]),
    ...env,
  })
  return examineEvents(settings, async (hostname) => {
    const found = addresses[hostname]
    if (!found) throw new Error(`getaddrinfo ENOTFOUND ${hostname}`)
    return found.map((address) => ({ address }))
  })
}

const at = (url: string) => targetAt(url, { types: ['update.settled'] })

test('the doctor finds no fault in a target with a public address and a key', async () => {
  const found = await examine(at('https://warehouse.example/hook?key=canary'), signingKey)
  expect(found).toEqual({
    lines: ['warehouse: warehouse.example gets update.settled'],
    toDo: [],
  })
})

test.each([
  [
    'a name with a private address',
    'https://inside.example/hook',
    'give the target warehouse a public address: inside.example leads to 10.0.0.8, where nothing is sent',
  ],
  [
    'an unknown name',
    'https://missing.example/hook',
    'correct the address of the target warehouse: missing.example cannot be resolved (getaddrinfo ENOTFOUND missing.example)',
  ],
])('the doctor finds %s in the address of a target', async (_what, url, toDo) => {
  expect((await examine(at(url), signingKey)).toDo).toEqual([toDo])
})

test('the doctor accepts a target on this machine only for a local guard', async () => {
  expect((await examine(at('http://127.0.0.1:9/hook'), signingKey)).toDo).toEqual([])
})

test.each([
  ['is missing', undefined],
  ['is not a key', 'canary-password'],
])('the doctor says that the secret of a target %s, without showing it', async (_what, secret) => {
  const { toDo } = await examine(at('https://warehouse.example/hook'), secret)
  expect(toDo).toEqual([
    expect.stringContaining('store the secret of the target warehouse, without which nothing is sent to it: '),
  ])
  expect(toDo[0]).not.toContain('canary')
})
