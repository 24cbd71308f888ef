import { readFile } from 'node:fs/promises'
import { Template } from 'aws-cdk-lib/assertions'
import { App, Stack } from 'aws-cdk-lib/core'
import { describe, expect, test } from 'vitest'
import { propOf, settingNames } from '../../infra/props.ts'
import { UnitGuard } from '../../infra/unit-guard.ts'
import { everyOption, warehouse, writeTargets } from '../support/infra/deployment.ts'
import { emptyBundles, plain, synthesize } from '../support/infra/stack.ts'

test('what must outlive deployments keeps its logical id', () => {
  const kept = synthesize(everyOption).resources.filter(({ DeletionPolicy }) => DeletionPolicy?.startsWith('Retain'))
  expect(kept.map(({ id }) => id).sort()).toMatchInlineSnapshot(`
    [
      "EventsSecretwarehouse840F9C19",
      "LedgerParameter",
      "LedgerTable9343E4AA",
      "SecretsCallerKey9894577F",
      "SecretsLoginClient31DDC1CF",
      "SecretsQuoteKeyAF5B582B",
      "SecretsServiceToken55067354",
      "SecretsSlackEC2CE206",
    ]
  `)
})

test('every setting of a deployment is a member of the props', async () => {
  const props = await readFile('infra/props.ts', 'utf8')
  expect(settingNames.map(propOf).filter((name) => !new RegExp(`readonly ${name}\\??:`).test(props))).toEqual([])
})

describe('two guards in one stack', () => {
  const stack = new Stack(new App({ treeMetadata: false, stackTraces: false }), 'Both')
  const bundles = emptyBundles()
  const own = { bundles, accountUnitsPerMonth: 50_000, trackingBaseUrl: 'https://service.example/v3' }
  const firsts = { accountUnitsUsedAtStart: 0, accountRenewalDay: 1, accountTimeZone: 'UTC', firstLedger: true }
  const one = new UnitGuard(stack, 'One', { ...own, ...firsts })
  const two = new UnitGuard(stack, 'Two', {
    ...{ ...own, ...firsts, prefix: 'unit-guard-two' },
    eventTargets: writeTargets([{ ...warehouse, secret: 'unit-guard-two/events/warehouse' }]),
  })
  const resources = Object.values(
    Template.fromStack(stack).toJSON().Resources as Record<string, { Properties: object }>,
  )
  const textOf = (members: readonly string[]) =>
    resources.flatMap(({ Properties }) =>
      Object.entries(Properties ?? {}).flatMap(([name, value]) =>
        members.includes(name) && typeof value === 'string' ? [value] : [],
      ),
    )

  test('share no name', () => {
    const names = textOf(['Name', 'AlarmName', 'DashboardName', 'FunctionName', 'TableName', 'QueueName', 'TopicName'])
    expect(names.filter((name) => name.startsWith('unit-guard/') || name.startsWith('/unit-guard/'))).toHaveLength(5)
    expect(new Set(names).size).toBe(names.length)
  })

  test('have addresses and tables of their own', () => {
    const partsOf = (guard: UnitGuard) => [guard.apiUrl, guard.dashboardUrl, guard.mcpUrl, guard.slackUrl]
    const all = [...partsOf(one), ...partsOf(two), one.table.tableName, two.table.tableName]
    expect(new Set(all.map((part) => JSON.stringify(stack.resolve(part)))).size).toBe(all.length)
  })

  test('count their log lines apart', () => {
    const text = JSON.stringify(plain(resources))
    expect(text).toContain('"METRIC_NAMESPACE":"unit-guard-two"')
    expect(new Set(text.match(/"MetricNamespace":"[^"]+"/g))).toEqual(
      new Set(['"MetricNamespace":"UnitGuard"', '"MetricNamespace":"unit-guard-two"']),
    )
  })

  test('do not share the secret of an event target', () => {
    const eventTargets = writeTargets([warehouse])
    const third = () => new UnitGuard(stack, 'Three', { ...own, prefix: 'third', eventTargets })
    expect(third).toThrow('the secret of warehouse must begin with third/events/')
  })

  test('each refuses a prefix that names cannot have', () => {
    const wrong = () => new UnitGuard(stack, 'Four', { ...own, prefix: 'Unit Guard' })
    expect(wrong).toThrow('must have 1 to 24 of a-z, 0-9 and -')
  })
})
