import { afterAll, describe, expect, test } from 'vitest'
import { createListener } from '../../infra/local/listener.ts'
import { runLocal, temporaryDirectory } from '../support/process/local.ts'

const { directory, remove } = await temporaryDirectory()
afterAll(remove)

const closed = await createListener({ port: 0 })
await closed.close(Promise.resolve())
const nowhere = closed.url
const stopped = {
  ...{ DATA_DIR: directory, UNIT_GUARD_URL: nowhere, UNIT_GUARD_TOKEN: 'any', TABLE_NAME: 'unit-guard' },
  ...{ DYNAMODB_ENDPOINT: nowhere, SECRETS_ENDPOINT: nowhere, TRACKING_BASE_URL: `${nowhere}/v3` },
}

describe('a command while npm start does not run', () => {
  test.each([
    ['budgets', ['export']],
    ['sweep', []],
    ['plan', ['morning']],
    ['token', ['--sub', 'a', '--scope', 'read']],
  ])('npm run %s without npm start says in one line what does not answer', async (name, args) => {
    const { code, out, err } = await runLocal(name, args, stopped)
    expect([code, out]).toEqual([1, ''])
    expect(err.trim().split('\n')).toEqual([
      expect.stringMatching(
        /ECONNREFUSED 127\.0\.0\.1:\d+\. Is npm start running\? After a restart, source its env file again\.$/,
      ),
    ])
  })
})

test('budgets says what to do about a token that the guard does not take', async () => {
  const listener = await createListener({ port: 0 })
  afterAll(() => listener.close(Promise.resolve()))
  listener.open({ fetch: () => new Response('{"detail": "no"}', { status: 401 }) })
  const { code, err } = await runLocal('budgets', ['export'], { ...stopped, UNIT_GUARD_URL: listener.url })
  expect([code, err]).toEqual([
    1,
    'UNIT_GUARD_TOKEN is not valid there: source the env file again, or make a token with npm run --silent token.\n',
  ])
})
