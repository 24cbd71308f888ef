import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { inspect } from 'node:util'
import { signAdminToken } from '../../infra/local/secrets.ts'
import { rehearseAgents } from './agents.ts'
import { cdk, folder, put, region } from './aws.ts'
import { rehearseConditions } from './conditions.ts'
import { rehearseDeletedStack } from './deleted-stack.ts'
import { deploy, type Guard, openGuard, plans, retained, synth } from './guard.ts'
import { rehearseLeakedKey } from './leaked-key.ts'
import { rehearseLostRegion } from './lost-region.ts'
import { rehearseRestore } from './restore.ts'
import { rehearseSideBySide } from './side-by-side.ts'
import { rehearseSlack } from './slack.ts'
import { say, step, until } from './steps.ts'
import { takeDown } from './take-down.ts'
import { isOnAws, prefix, secondPrefix } from './where.ts'

const assembly = join(folder, 'cdk.out')
const both = join(folder, 'cdk.both')
let isFine = false
try {
  await rehearse()
  isFine = true
} catch (error) {
  say(`failed: ${inspect(error)}`)
}
const left = await takeDown(retained.prefixes.size > 1 ? both : assembly)
for (const each of left) say(`LEFT ${each}`)
await rm(folder, { recursive: true })
// The emulator does not delete everything.
process.exitCode = isFine && (left.length === 0 || !isOnAws) ? 0 : 1

async function rehearse(): Promise<void> {
  const plan = { name: 'rehearsal', kind: 'ranking', projects: ['initech'], schedule: 'rate(1 minute)' }
  await writeFile(plans, JSON.stringify([plan]))
  say(`prefix ${prefix} in ${region}`)
  if (isOnAws) await rehearseConditions()
  await synth('synth', assembly, '-c', 'firstLedger=true')
  await step('bootstrap', () => cdk(['bootstrap', '--app', assembly]))
  const outputs = await deploy('deploy, for the first time', assembly, prefix)
  const first = await openGuard(prefix, outputs(prefix))
  await rehearseLedger(first)

  const twoGuards = ['--app', 'tsx test/deploy/two-guards.ts', '-c', `second=${secondPrefix}`]
  await synth('synth two guards', both, ...twoGuards)
  const name = 'deploy again, with the marker of the ledger, and a second guard of the same app'
  const second = await openGuard(secondPrefix, (await deploy(name, both, prefix, secondPrefix))(secondPrefix))
  await rehearseApi(first)
  await rehearseAgents(first.urls.mcp, first.token)
  await rehearseSlack(first)
  await rehearseSchedule(first)
  await rehearseSideBySide(first, second)
  await step('the audit is ok', async () => {
    for (const { call } of [first, second]) assert.equal((await call('GET', '/audit')).body.ok, true)
  })
  await rehearseRestore(first, both)
  await step('two guards: the second did not notice the restore', async () => {
    assert.equal((await second.ask('acme.example')).body.updates[0].state, 'settled')
  })
  const again = await rehearseDeletedStack(first, both)
  if (!isOnAws) await rehearseLostRegion(again)
  // This comes late, because the stand-in may accept only the old token for five minutes.
  await rehearseRotation(again)
  await rehearseLeakedKey(again)
}

async function rehearseLedger({ urls, call, begin }: Guard): Promise<void> {
  await step('function URL: a request without a token is refused', async () => {
    assert.equal((await fetch(`${urls.api}/budgets`)).status, 401)
  })
  await step('ledger: an empty table answers 503', async () => {
    const { status, body } = await call('GET', '/budgets')
    assert.equal(status, 503, JSON.stringify(body))
    assert.match(body.detail, /holds no ledger yet: begin it once with npm run account -- begin/)
  })
  await step('ledger: an operator begins it once', async () => {
    await begin()
    await assert.rejects(begin(), /was begun already/)
    assert.equal((await call('GET', '/budgets')).status, 200)
  })
}

async function rehearseApi({ urls, token, call, ask }: Guard): Promise<void> {
  await step('function URL: an update runs once and is settled', async () => {
    const first = await ask('globex', { 'idempotency-key': 'rehearsal' })
    assert.equal(first.status, 201, JSON.stringify(first.body))
    assert.equal(first.body.updates[0].state, 'settled')
    const again = await ask('globex', { 'idempotency-key': 'rehearsal' })
    assert.equal(again.body.updates[0].id, first.body.updates[0].id)
  })
  await step('function URL: an update without enough units is refused', async () => {
    await call('PUT', '/budgets/small', { limits: [{ window: 'month', units: 1 }] })
    const refused = await call('POST', '/updates', { kind: 'ranking', project: 'acme.example', budget: 'small' })
    assert.equal(refused.status, 402, JSON.stringify(refused.body))
    assert.equal((await call('DELETE', '/budgets/small')).status, 204)
  })
  await step('dashboard: a token logs in, and the API redirects to it', async () => {
    const form = { method: 'POST', body: new URLSearchParams({ token }), redirect: 'manual' } as const
    const [cookie = ''] = (await fetch(`${urls.dashboard}/login`, form)).headers.getSetCookie()[0]?.split(';') ?? []
    assert.match(await (await fetch(`${urls.dashboard}/`, { headers: { cookie } })).text(), /<h1>\w+: on track<\/h1>/)
    const link = await fetch(`${urls.api}/dashboard/updates?state=settled`, { redirect: 'manual' })
    assert.match(`${link.status} ${link.headers.get('location')}`, /^308 .*\/dashboard\/updates\?state=settled$/)
  })
  await step('gateway: lists the service’s projects', async () => {
    assert.equal((await call('GET', '/v3/projects')).status, 200)
  })
  await step('stream: a queued update is started', async () => {
    const { status, body } = await ask('acme.example', { prefer: 'respond-async' })
    assert.equal(status, 202, JSON.stringify(body))
    const path = `/updates/${body.updates[0].id}`
    await until(async () => (await call('GET', path)).body.state === 'settled')
  })
}

async function rehearseSchedule({ call }: Guard): Promise<void> {
  await step('schedule: the plan’s rule runs its project', () =>
    until(async () => {
      const { body } = await call('GET', '/updates?via=schedule&project=initech&state=settled')
      return body.updates.length > 0
    }),
  )
}

async function rehearseRotation({ call, force, prefix }: Guard): Promise<void> {
  await step('rotation: tokens of the old and the new caller key are accepted', async () => {
    const fresh = randomBytes(32).toString('hex')
    await put(`${prefix}/caller-key`, fresh)
    const authorization = `Bearer ${await signAdminToken(fresh, Date.now())}`
    // A token of the new key makes a process read that key, at most every ten seconds.
    await until(async () => (await call('GET', '/budgets', undefined, { authorization })).status === 200)
    assert.equal((await call('GET', '/budgets')).status, 200)
  })
  await step(
    'rotation: updates survive a new service token, and one that the service refused may be repeated',
    async () => {
      await put(`${prefix}/service-token`, 'rehearsal-service-token-2')
      await until(async () => {
        const { status, body } = await force('globex', `restored-1-rotated-${randomBytes(3).toString('hex')}`)
        if (status === 201) return true
        assert.notEqual(body.updates?.[0].state, 'in-doubt', JSON.stringify(body))
        // A process of the stand-in may know only the old token for five minutes.
        await sleep(10_000)
        return false
      }, 400_000)
    },
  )
}
