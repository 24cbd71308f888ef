import assert from 'node:assert/strict'
import { join } from 'node:path'
import { blockOfPage, folder, shell } from './aws.ts'
import { deploy, type Guard, guardWithSecrets, stackOf, synth } from './guard.ts'
import { rehearseSlack } from './slack.ts'
import { step } from './steps.ts'
import { destroy } from './take-down.ts'

/**
 * docs/runbook.md, "The stack was deleted", with the commands of the page. An emulator takes over names in use, which AWS
 * refuses. So only AWS can show that this needs `secrets=existing`.
 *
 * @param assembly of the guard.
 * @returns the guard at its new addresses.
 */
export async function rehearseDeletedStack(guard: Guard, assembly: string): Promise<Guard> {
  const { prefix } = guard
  const key = 'restored-1-deleted-stack'
  const before = await step('deleted stack: units are spent', async () => {
    const { body } = await guard.force('globex', key)
    assert.equal(body.updates?.[0].state, 'settled', JSON.stringify(body))
    return { id: body.updates[0].id, left: await guard.left() }
  })
  await step('deleted stack: the stack is deleted, and no function answers', async () => {
    await destroy([stackOf(prefix)], assembly)
    await assert.rejects(guard.left())
  })
  const found = await step('deleted stack: the commands of the page find the table and its stream', async () => {
    const block = (await blockOfPage('Table.LatestStreamArn', 'docs/runbook.md')).replace('/unit-guard/', `/${prefix}/`)
    const [table = '', stream = ''] = (await shell(`${block}\necho "$TABLE_NAME $STREAM"`, {})).trim().split(' ')
    assert.ok(stream.includes(`/${table}/`), stream)
    return { table, stream }
  })
  const beside = join(folder, 'cdk.beside')
  const options = ['secrets=existing', `ledgerTable=${found.table}`, `ledgerStream=${found.stream}`]
  await synth('synth beside what a deleted stack left', beside, ...options.flatMap((option) => ['-c', option]))
  const outputs = await deploy('deploy beside what the deleted stack left', beside, prefix)
  const after = await guardWithSecrets(prefix, outputs(prefix))
  await step('deleted stack: all addresses are new, and a token of before is valid', async () => {
    for (const name of ['api', 'dashboard', 'mcp', 'slack'] as const)
      assert.notEqual(after.urls[name], guard.urls[name])
    const authorization = `Bearer ${guard.token}`
    assert.equal((await after.call('GET', '/budgets', undefined, { authorization })).status, 200)
  })
  await step('deleted stack: the units are still counted, and no key runs twice', async () => {
    assert.equal(await after.left(), before.left)
    const { body } = await after.force('globex', key)
    assert.equal(body.updates[0].id, before.id)
    assert.equal(await after.left(), before.left)
    assert.equal((await after.call('GET', '/audit')).body.ok, true)
  })
  await step('deleted stack: an update runs with the kept token of the service', async () => {
    const { body } = await after.force('globex', 'restored-1-again')
    assert.equal(body.updates?.[0].state, 'settled', JSON.stringify(body))
    assert.equal(await after.left(), before.left - body.updates[0].units.charged)
  })
  await rehearseSlack(after)
  return after
}
