import assert from 'node:assert/strict'
import { GetSecretValueCommand } from '@aws-sdk/client-secrets-manager'
import { signAdminToken, signCallerToken } from '../../infra/local/secrets.ts'
import { minuteMs } from '../../shared/platform/clock.ts'
import { scopes } from '../../shared/platform/words.ts'
import { blockOfPage, secrets, shell } from './aws.ts'
import type { Guard } from './guard.ts'
import { step, until } from './steps.ts'

/** Functions may use a secret for five minutes. */
const cachedMs = 5 * minuteMs

/** docs/runbook.md, "The caller key leaked", with the commands of the page. */
export async function rehearseLeakedKey({ call, prefix }: Guard): Promise<void> {
  const keyNow = async () => {
    const { SecretString = '' } = await secrets.send(new GetSecretValueCommand({ SecretId: `${prefix}/caller-key` }))
    return SecretString
  }
  const claims = { sub: 'mallory', scopes, budgets: '*' as const, now: Date.now(), lastsMs: 60 * minuteMs }
  const forged = { authorization: `Bearer ${await signCallerToken({ key: await keyNow(), ...claims })}` }
  await step('leaked key: a forged token can spend', async () => {
    const wanted = { kind: 'ranking', project: 'initech', force: true, reason: 'forged' }
    const { body } = await call('POST', '/updates', wanted, { ...forged, 'idempotency-key': 'restored-1-forged' })
    assert.equal(body.updates?.[0].state, 'settled', JSON.stringify(body))
  })
  await step('leaked key: the commands of the page store two new values', async () => {
    const block = await blockOfPage('for value in first second', 'docs/runbook.md')
    await shell(block.replace('unit-guard/', `${prefix}/`), {})
  })
  await step('leaked key: within five minutes its tokens are refused', () =>
    until(async () => (await call('GET', '/budgets', undefined, forged)).status === 401, cachedMs + minuteMs),
  )
  await step('leaked key: a new token is accepted, and lists what the old one did', async () => {
    const authorization = `Bearer ${await signAdminToken(await keyNow(), Date.now())}`
    const { body } = await call('GET', '/updates?caller=mallory', undefined, { authorization })
    assert.deepEqual(
      body.updates.map(({ project, state }: Record<string, unknown>) => [project, state]),
      [['initech', 'settled']],
    )
  })
}
