import assert from 'node:assert/strict'
import { GetParameterCommand } from '@aws-sdk/client-ssm'
import { ledgerParameterOf } from '../../shared/platform/prefix.ts'
import { parseMarker } from '../../shared/platform/settings.ts'
import { aws, ssm } from './aws.ts'
import { type Guard, stackOf } from './guard.ts'
import { step } from './steps.ts'

/** Two guards of one app, in one account and region. */
export async function rehearseSideBySide(first: Guard, second: Guard): Promise<void> {
  await step('two guards: the second begins a ledger of its own', async () => {
    assert.equal((await second.call('GET', '/budgets')).status, 503)
    assert.equal((await first.call('GET', '/budgets')).status, 200)
    await second.begin()
    assert.equal((await second.call('GET', '/budgets')).status, 200)
    const [one, two] = await Promise.all([markerOf(first), markerOf(second)])
    assert.deepEqual([one.tableName, two.tableName], [first.table, second.table])
    assert.notEqual(one.ledger, two.ledger)
  })
  await step('two guards: they share no resource, no name of a secret, and no namespace of metrics', async () => {
    const [one, two] = [await resourcesOf(first), await resourcesOf(second)]
    const ids = new Set(one.map(([, id]) => id))
    assert.deepEqual(
      two.filter(([, id]) => ids.has(id)),
      [],
    )
    for (const [{ prefix }, resources] of [
      [first, one],
      [second, two],
    ] as const) {
      const names = resources.filter(([type]) => type === 'AWS::SecretsManager::Secret').map(([, id]) => nameIn(id))
      assert.deepEqual(names.filter((name) => name.startsWith(`${prefix}/`)).length, 4, names.join(' '))
    }
    assert.deepEqual(await Promise.all([namespacesOf(first), namespacesOf(second)]), [
      [stackOf(first.prefix)],
      [second.prefix],
    ])
  })
  await step('two guards: each refuses the other’s tokens', async () => {
    const tokenOf = ({ token }: Guard) => ({ authorization: `Bearer ${token}` })
    for (const [guard, other] of [
      [first, second],
      [second, first],
    ] as const)
      assert.equal((await guard.call('GET', '/budgets', undefined, tokenOf(other))).status, 401)
  })
  await step('two guards: each counts its own units, and knows its own updates only', async () => {
    for (const [guard, other] of [
      [first, second],
      [second, first],
    ] as const) {
      const [before, otherBefore] = [await guard.left(), await other.left()]
      const { body } = await guard.force('globex', guard.prefix)
      const [update] = body.updates ?? []
      assert.equal(update?.state, 'settled', JSON.stringify(body))
      assert.deepEqual([await guard.left(), await other.left()], [before - update.units.charged, otherBefore])
      assert.equal((await other.call('GET', `/updates/${update.id}`)).status, 404)
    }
  })
}

const markerOf = async ({ prefix }: Guard) => {
  const { Parameter } = await ssm.send(new GetParameterCommand({ Name: ledgerParameterOf(prefix) }))
  const marker = parseMarker(Parameter?.Value ?? '')
  if (!marker) throw new Error(`${prefix} has no marker`)
  return marker
}

/** The types and physical ids of the guard's resources. */
const resourcesOf = ({ prefix }: Guard): Promise<readonly (readonly [string, string])[]> =>
  aws(
    'cloudformation',
    'list-stack-resources',
    '--stack-name',
    stackOf(prefix),
    '--query',
    'StackResourceSummaries[].[ResourceType,PhysicalResourceId]',
  )

const nameIn = (secretArn: string): string => secretArn.split(':').at(-1) ?? ''

async function namespacesOf({ logGroup }: Guard): Promise<readonly string[]> {
  const query = 'metricFilters[].metricTransformations[].metricNamespace'
  return [
    ...new Set<string>(await aws('logs', 'describe-metric-filters', '--log-group-name', logGroup, '--query', query)),
  ]
}
