import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PutSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager'
import { account, cdk, folder, operate } from './aws.ts'
import { adaptToEmulator } from './emulator.ts'
import { type Guard, guardWithSecrets, type Outputs, stackOf } from './guard.ts'
import { setFaults } from './restore.ts'
import { step } from './steps.ts'
import { destroy } from './take-down.ts'
import { endpoint } from './where.ts'

const region = 'eu-west-1'
// Version 1 of the AWS CLI reads the second name.
const elsewhere = { AWS_REGION: region, AWS_DEFAULT_REGION: region }

/**
 * docs/runbook.md, "The region is lost". Only on an emulator, because a rehearsal on AWS uses one region. Each stand-in is a service of
 * its own, so a fault of the first plays the revoked token.
 */
export async function rehearseLostRegion(guard: Guard): Promise<void> {
  const { prefix } = guard
  const used = Number(account.ACCOUNT_UNITS_PER_MONTH) - (await guard.left())
  await step('lost region: with a revoked token the old guard spends nothing', async () => {
    await setFaults(guard, [{ operation: 'any', fault: 'status', status: 401 }])
    const { status } = await guard.force('initech', 'restored-1-revoked')
    assert.ok(status >= 500, String(status))
    assert.equal(Number(account.ACCOUNT_UNITS_PER_MONTH) - (await guard.left()), used)
  })
  const settings = {
    ...account,
    ...elsewhere,
    GUARD_PREFIX: prefix,
    TRACKING_BASE_URL: '',
    ACCOUNT_UNITS_USED_AT_START: String(used),
  }
  const secrets = new SecretsManagerClient({ region })
  const deploy = async (name: string, ...options: string[]) => {
    const [assembly, file] = [join(folder, name), join(folder, `${name}.json`)]
    await cdk(['synth', '--quiet', '-c', 'sandbox=true', ...options, '--output', assembly], settings)
    await adaptToEmulator(assembly, endpoint)
    await cdk(['bootstrap', '--app', assembly], elsewhere)
    const answers = ['--require-approval', 'never', '--outputs-file', file]
    await cdk(['deploy', stackOf(prefix), '--app', assembly, ...answers], elsewhere)
    const outputs: Record<string, Outputs> = JSON.parse(await readFile(file, 'utf8'))
    const own = outputs[stackOf(prefix)]
    assert.ok(own)
    return guardWithSecrets(prefix, own, secrets)
  }
  const { table } = await step('lost region: deploy a first ledger elsewhere', async () => {
    const first = await deploy('cdk.elsewhere', '-c', 'firstLedger=true')
    const SecretId = `${prefix}/service-token`
    await secrets.send(new PutSecretValueCommand({ SecretId, SecretString: 'rehearsal-token-elsewhere' }))
    return first
  })
  await step('lost region: the ledger begins with the vendor’s figure', () =>
    operate('account', ['begin'], { table, prefix, more: settings }),
  )
  const other = await step('lost region: deploy again with the marker', () => deploy('cdk.again-elsewhere'))
  await step('lost region: the units are counted there, and an update runs', async () => {
    const left = await other.left()
    assert.equal(left, Number(account.ACCOUNT_UNITS_PER_MONTH) - used)
    const { body } = await other.ask('initech')
    assert.equal(body.updates?.[0].state, 'settled', JSON.stringify(body))
    assert.equal(await other.left(), left - body.updates[0].units.charged)
    assert.equal(await guard.left(), left)
  })
  await step('lost region: neither guard takes a token of the other', async () => {
    const tokenOf = ({ token }: Guard) => ({ authorization: `Bearer ${token}` })
    assert.equal((await other.call('GET', '/budgets', undefined, tokenOf(guard))).status, 401)
  })
  await step('lost region: delete the stack elsewhere', async () => {
    await destroy([stackOf(prefix)], join(folder, 'cdk.again-elsewhere'), region)
    await setFaults(guard, [])
  })
}
