import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { DescribeTableCommand } from '@aws-sdk/client-dynamodb'
import { GetSecretValueCommand } from '@aws-sdk/client-secrets-manager'
import { aws, blockOfPage, dynamo, folder, operate, secrets, shell } from './aws.ts'
import { deploy, type Guard, retained, synth } from './guard.ts'
import { step, until } from './steps.ts'
import { isOnAws } from './where.ts'

const reason = 'rehearsal'

/**
 * docs/deploy.md, "Restoring from a point in time", with the commands of the page.
 *
 * @param assembly of the guard without a restored table.
 */
export async function rehearseRestore(guard: Guard, assembly: string): Promise<void> {
  const { call, left, prefix } = guard
  const restored = `${guard.table}-restored`
  const lost = await loseUpdates(guard, restored)

  await step('restore: an operator accepts the table', () =>
    operate('restore', ['accept', '--to', lost.to], { table: restored, prefix }),
  )
  await step('restore: functions with the former table answer 503', () =>
    refuses(guard, /this table was replaced by the table/),
  )
  const onto = join(folder, 'cdk.restored')
  await synth(
    'synth with the restored table',
    onto,
    '-c',
    `ledgerTable=${restored}`,
    '-c',
    `ledgerStream=${lost.stream}`,
  )
  await deploy('deploy onto the restored table', onto, prefix)
  await recoverFromLog(guard, lost)
  await step('restore: the account stays frozen until it is reconciled', async () => {
    assert.equal((await call('POST', '/budgets/account/unfreeze', { reason })).status, 409)
    const figure = { unitsLeft: lost.left, reason }
    // The figure is assumed to lack an update that was in doubt, until two flights after its sender's end.
    await until(async () => {
      await sleep(10_000)
      return (await call('POST', '/budgets/account/reconcile?dry-run=true', figure)).body.units === 0
    }, 900_000)
    assert.equal((await call('POST', '/budgets/account/reconcile', { ...figure, difference: 0 })).status, 200)
    assert.equal((await call('POST', '/budgets/account/unfreeze', { reason })).status, 200)
    assert.equal(await left(), lost.left)
    assert.equal((await call('GET', '/audit')).body.ok, true)
  })
  await step('restore: work that may have been lost is refused, and runs with force', async () => {
    const { status, body } = await guard.ask('hooli')
    assert.deepEqual([status, body.type], [409, '/problems/ledger-restored'])
    await runs(guard, 'acme.example')
  })

  await deploy('deploy without the options of the restored table', assembly, prefix)
  await step('restore: functions with another table answer 503', () =>
    refuses(guard, /the table is empty, and the ledger/),
  )
  await deploy('deploy with them again', onto, prefix)
  await step('restore: an update runs in the restored table', () => runs(guard, 'initech'))
}

interface Lost {
  /** The time of the restore. */
  readonly to: string
  readonly stream: string
  readonly left: number
}

/** Restores to a time when one update is running; then it ends, and two more run. */
async function loseUpdates(guard: Guard, table: string): Promise<Lost> {
  const { call, left } = guard
  await step('restore: the service is slow', () => setFaults(guard, [{ operation: 'run', fault: 'delay', ms: 15_000 }]))
  const slow = call('POST', '/updates', { kind: 'keyword-difficulty', project: 'daily.example', reason })
  await until(async () => (await call('GET', '/updates?state=running')).body.updates.length === 1)
  // The times of the page have no fractions of a second.
  await sleep(1000)
  const to = `${new Date().toISOString().slice(0, 19)}Z`
  // The emulator can only copy the table in its present state.
  const stream = isOnAws ? undefined : await restore(guard.table, table, to)
  return step('restore: updates run after the restored time', async () => {
    await setFaults(guard, [])
    assert.equal((await slow).body.updates[0].state, 'settled')
    assert.equal((await guard.force('acme.example', 'lost')).body.updates[0].state, 'settled')
    const { body } = await guard.force('initech', 'lost-later', { prefer: 'respond-async' })
    await until(async () => (await call('GET', `/updates/${body.updates[0].id}`)).body.state === 'settled')
    assert.equal((await call('POST', '/budgets/account/freeze', { reason })).status, 200)
    return { to, left: await left(), stream: stream ?? (await restore(guard.table, table, to)) }
  })
}

async function restore(from: string, table: string, to: string): Promise<string> {
  return step('restore: the commands of the page restore the table', async () => {
    if (isOnAws) await until(async () => (await latestRestorable(from)) >= Date.parse(to), 600_000)
    const commands = (await blockOfPage('restore-table-to-point-in-time')).replace(/^ *T=.*\n/, '')
    retained.tables.add(table)
    await shell(commands, { TABLE_NAME: from, T: table, TO: to })
    const { Table } = await dynamo.send(new DescribeTableCommand({ TableName: table }))
    return Table?.LatestStreamArn ?? ''
  })
}

const latestRestorable = async (table: string): Promise<number> => {
  const query = 'ContinuousBackupsDescription.PointInTimeRecoveryDescription.LatestRestorableDateTime'
  return Date.parse(await aws('dynamodb', 'describe-continuous-backups', '--table-name', table, '--query', query))
}

/** Recovers the updates that ran, and the one that was running, from the log alone. */
async function recoverFromLog(guard: Guard, { to, left }: Lost): Promise<void> {
  const [book, log] = [await blockOfPage('npm run recover'), join(folder, 'ran.json')]
  const recover = (isDry: boolean) =>
    shell(book.replaceAll('ran.json', log).replace(isDry ? '' : '--dry-run', ''), {
      LOG_GROUP: guard.logGroup,
      TO: to,
      UNIT_GUARD_URL: guard.urls.api,
      UNIT_GUARD_TOKEN: guard.token,
    })
  await step('restore: the sweep puts in doubt what was running', async () => {
    await until(async () => {
      await sweep(guard)
      return (await guard.call('GET', '/updates?state=in-doubt')).body.updates.length === 1
    })
  })
  await step('restore: the commands of the page book what ran from the log alone', async () => {
    const before = await guard.left()
    assert.ok(before > left)
    await recover(true)
    assert.equal(await guard.left(), before)
    assert.match(await recover(false), /resolved: it ran[\s\S]* updates since .*, [1-9]\d* units booked\./)
    assert.equal(await guard.left(), left)
  })
  await step('restore: a second time books nothing', async () => {
    assert.match(await recover(false), /, 0 units booked\./)
    assert.equal(await guard.left(), left)
  })
}

async function refuses({ call }: Guard, why: RegExp): Promise<void> {
  const { status, body } = await call('GET', '/budgets')
  assert.equal(status, 503, JSON.stringify(body))
  assert.match(body.detail, why)
}

async function runs({ force }: Guard, project: string): Promise<void> {
  const { body } = await force(project, `restored-1-${project}`)
  assert.equal(body.updates?.[0].state, 'settled', JSON.stringify(body))
}

/** The rule of the stack does this every five minutes. */
async function sweep({ prefix }: Guard): Promise<void> {
  const [target] = await aws('events', 'list-targets-by-rule', '--rule', `${prefix}-sweep`, '--query', 'Targets')
  const payload = join(folder, 'payload.json')
  await writeFile(payload, target.Input)
  const input = ['--function-name', target.Arn, '--payload', `fileb://${payload}`]
  await aws('lambda', 'invoke', ...input, join(folder, 'swept.json'))
}

/** @param faults functions/sandbox/README.md, "Faults". */
export async function setFaults({ prefix, table }: Guard, faults: readonly object[]): Promise<void> {
  const variables = await aws('lambda', 'list-functions', '--query', 'Functions[].Environment.Variables')
  const own = variables.find((each: Record<string, string>) => each.TABLE_NAME === table && each.TRACKING_BASE_URL)
  const token = await secrets.send(new GetSecretValueCommand({ SecretId: `${prefix}/service-token` }))
  const response = await fetch(`${own.TRACKING_BASE_URL.replace(/\/v3$/, '')}/sandbox/faults`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${token.SecretString}`, 'content-type': 'application/json' },
    body: JSON.stringify({ faults }),
  })
  assert.equal(response.status, 200, await response.text())
}
