import { describe, expect, test, vi } from 'vitest'
import { Contention, LedgerUnavailable } from '../../../shared/ledger/errors.ts'
import { createMemoryStore } from '../../../shared/ledger/store/memory-store.ts'
import { streamAnswers } from '../../../shared/platform/http.ts'
import { type Minute, shift } from '../../support/infra/canary.ts'
import { everyOption } from '../../support/infra/deployment.ts'
import { awslambda, callStreaming, urlEvent } from '../../support/infra/lambda.ts'
import { plain, synthesize } from '../../support/infra/stack.ts'
import { linesOf } from '../../support/log-lines.ts'
import { json, startProduct } from '../../support/product.ts'
import type { Answer } from '../../support/scripted-service.ts'

const stack = synthesize()
const only = (type: string, of = stack) => {
  const found = of.ofType(type)
  expect(found).toHaveLength(1)
  return found[0] as (typeof found)[number]
}

describe('the alias of the API', () => {
  test('has the published version, and CodeDeploy moves it', () => {
    const { Properties, UpdatePolicy } = only('AWS::Lambda::Alias')
    const version = only('AWS::Lambda::Version')
    expect(Properties).toEqual({
      FunctionName: { Ref: stack.functions.Api?.id },
      FunctionVersion: { 'Fn::GetAtt': [version.id, 'Version'] },
      Name: 'live',
    })
    expect(plain(UpdatePolicy)).toEqual({
      CodeDeployLambdaAliasUpdate: {
        ApplicationName: 'ApiCanaryDeploymentsApplication',
        DeploymentGroupName: 'ApiCanaryDeployments',
      },
    })
  })

  test('keeps old versions, in which calls end, and deletes one that was rolled back', () => {
    const { DeletionPolicy, Properties } = only('AWS::Lambda::Version')
    expect(DeletionPolicy).toBe('RetainExceptOnCreate')
    // A property that cannot be changed: another marker makes another version, whose environment has it.
    expect(Properties.Description).toEqual({ Ref: 'LedgerMarker' })
    expect(stack.functions.Api?.Properties.Environment.Variables.LEDGER_MARKER).toEqual({ Ref: 'LedgerMarker' })
  })

  test('gets another version with another setting, and the same one without a change', () => {
    const idOf = (options: Parameters<typeof synthesize>[0]) => only('AWS::Lambda::Version', synthesize(options)).id
    expect(idOf({})).toBe(only('AWS::Lambda::Version').id)
    expect(idOf({ context: { alarmEmail: 'ops@example.com' } })).toBe(only('AWS::Lambda::Version').id)
    expect(idOf({ env: { SERVICE_TIMEOUT_MS: '30000' } })).not.toBe(only('AWS::Lambda::Version').id)
  })

  test('has a URL of its own, which is ApiUrl, and the function’s own one stays for this release', () => {
    const { Outputs } = stack.template.toJSON()
    expect(plain([Outputs.ApiUrl.Value, Outputs.OldApiUrl.Value])).toEqual([
      'ApiFunctionAliasliveFunctionUrl.FunctionUrl',
      'ApiFunctionFunctionUrl.FunctionUrl',
    ])
  })

  test('is what the edge leads to', () => {
    const { edge, template } = synthesize(everyOption)
    const [distribution] = edge.filter(({ Type }) => Type === 'AWS::CloudFront::Distribution')
    const { DefaultCacheBehavior, Origins } = distribution?.Properties.DistributionConfig ?? {}
    const origin = Origins.find(({ Id }: { Id: string }) => Id === DefaultCacheBehavior.TargetOriginId)
    const { OutputName } = origin.DomainName['Fn::GetStackOutput']
    expect(JSON.stringify(template.toJSON().Outputs[OutputName])).toContain('"ApiFunctionAliasliveFunctionUrl')
  })
})

describe('the deployments of CodeDeploy', () => {
  test('give a tenth of the calls to a new version for ten minutes, and roll back for an alarm, a failure and a stop', () => {
    const { Properties } = only('AWS::CodeDeploy::DeploymentGroup')
    expect(plain(Properties)).toMatchObject({
      DeploymentConfigName: 'CodeDeployDefault.LambdaCanary10Percent10Minutes',
      AlarmConfiguration: { Enabled: true, Alarms: [{ Name: 'ApiCanaryCrashes' }, { Name: 'ApiCanaryFailures' }] },
      AutoRollbackConfiguration: {
        Enabled: true,
        Events: ['DEPLOYMENT_FAILURE', 'DEPLOYMENT_STOP_ON_REQUEST', 'DEPLOYMENT_STOP_ON_ALARM'],
      },
      ServiceRoleArn: 'ApiCanaryRole.Arn',
    })
  })

  test('take no time and heed no alarm with canary=off', () => {
    const off = synthesize({ context: { canary: 'off' } })
    const { Properties } = only('AWS::CodeDeploy::DeploymentGroup', off)
    expect(Properties.DeploymentConfigName).toBe('CodeDeployDefault.LambdaAllAtOnce')
    expect([Properties.AlarmConfiguration.Enabled, Properties.AutoRollbackConfiguration.Events]).toEqual([
      false,
      ['DEPLOYMENT_FAILURE', 'DEPLOYMENT_STOP_ON_REQUEST'],
    ])
  })

  test('have alarms that see the new version alone', () => {
    const version = { 'Fn::GetAtt': [only('AWS::Lambda::Version').id, 'Version'] }
    const alarms = stack.ofType('AWS::CloudWatch::Alarm').filter(({ id }) => id.startsWith('ApiCanary'))
    const dimensionsOf = (stat: { Dimensions: { Name: string; Value: object }[] }) =>
      Object.fromEntries(stat.Dimensions.map(({ Name, Value }) => [Name, Value]))
    const [crashes, failures] = alarms.map(({ Properties }) => Properties)
    const [, failed, broken] = crashes.Metrics
    expect(dimensionsOf(failed.MetricStat.Metric)).toMatchObject({ ExecutedVersion: version })
    expect(plain(dimensionsOf(failed.MetricStat.Metric))).toMatchObject({
      FunctionName: 'ApiFunction',
      Resource: 'ApiFunction:live',
    })
    expect([broken.MetricStat.Metric, failures].map(dimensionsOf)).toEqual([{ version }, { version }])
    for (const { AlarmDescription } of [crashes, failures])
      expect(AlarmDescription).toMatch(/ docs\/runbook\.md#a-deployment-was-rolled-back$/)
  })
})

/** The API on Lambda, a new version beside an old one. */
async function startVersions(service?: (url: string) => Answer | undefined) {
  vi.stubGlobal('awslambda', awslambda)
  const inner = createMemoryStore()
  let failure: (() => Error) | null = null
  const product = await startProduct({
    store: {
      ...inner,
      get: (keys) => (failure ? Promise.reject(failure()) : inner.get(keys)),
    },
    ...(service && { service: ({ url }) => service(url) }),
  })
  await product.call('PUT', '/budgets/small', { body: { limits: [{ window: 'month', units: 10 }] } })
  // biome-ignore lint/suspicious/noExplicitAny: Lambda calls it without types.
  const handler = streamAnswers('api', product.api, product.services.log) as any
  const authorization = `Bearer ${await product.signed({ sub: 'tool', scope: 'run read', budgets: '*' })}`
  const headers = { authorization, 'content-type': 'application/json' }
  const statuses = new Set<number | undefined>()
  let read = 0
  /** A call, and what CloudWatch gets of it: Lambda counts a handler that fails. */
  const call = async (version: string, method: string, target: string, body?: object): Promise<Minute> => {
    const event = urlEvent(method, target, { headers, ...(body && { body: JSON.stringify(body) }) })
    const hasFailed = await callStreaming(handler, event, 120_000, version).then(
      ({ statusCode }) => void statuses.add(statusCode),
      () => true,
    )
    const lines = linesOf(product.logged.slice(read))
    read = product.logged.length
    return { failed: hasFailed ? [0] : [], lines }
  }
  const failing = async (how: () => Error, work: () => Promise<Minute>) => {
    failure = how
    const minute = await work()
    failure = null
    return minute
  }
  return { call, failing, statuses }
}

const [older, newer] = ['7', '8']
const update = (project: string, more: object = {}) => ({ kind: 'ranking', project, ...more })

describe('a new version is rolled back', () => {
  test('when it crashes, within three minutes', async () => {
    const outcome = await shift(stack, newer, (minute) => ({ failed: minute < 1 ? [] : [0] }))
    expect(outcome).toEqual({ kind: 'rolled back', minute: 2, alarms: ['Crashes'] })
  })

  test('when its calls hang until Lambda ends them after two minutes', async () => {
    const outcome = await shift(stack, newer, () => ({ failed: [2] }))
    expect(outcome).toEqual({ kind: 'rolled back', minute: 3, alarms: ['Crashes'] })
  })

  test('when a single call fails, in any but the last minutes', async () => {
    for (const at of [0, 4, 8])
      expect(await shift(stack, newer, (minute) => ({ failed: minute === at ? [0] : [] }))).toMatchObject({
        kind: 'rolled back',
      })
  })

  test.each([
    ['throws what no code expects', 500, () => new TypeError('undefined is not a function')],
    ['cannot use the table', 503, () => new LedgerUnavailable('AccessDeniedException')],
  ])('when it %s', async (_, status, how) => {
    const { call, failing, statuses } = await startVersions()
    const outcome = await shift(stack, newer, () => failing(how, () => call(newer, 'GET', '/budgets')))
    expect(outcome).toEqual({ kind: 'rolled back', minute: 1, alarms: ['Failures'] })
    expect([...statuses]).toEqual([status])
  })
})

test('a new version whose issuers do not give their keys is rolled back', async () => {
  const lines = [{ level: 'error', event: 'issuer-unavailable', function: 'api', version: newer }]
  expect(await shift(stack, newer, () => ({ lines }))).toMatchObject({ kind: 'rolled back', alarms: ['Failures'] })
})

const shifted = { kind: 'shifted', percent: 10, minutes: 10 }

describe('a new version takes all calls', () => {
  const badAnswers: [string, Answer][] = [
    ['refuses all', json({ response_code: 5 }, 402)],
    ['has too much to do', json({}, 429)],
    ['fails', json({}, 500)],
    ['is down', json({}, 503)],
    ['answers what cannot be read', json({ nothing: true })],
    ['closes connections', { kind: 'reset' }],
  ]
  test.each(badAnswers)('while the service %s', async (_, answer) => {
    const { call, statuses } = await startVersions(() => answer)
    const outcome = await shift(stack, newer, async (minute) => {
      const minutes = [
        await call(newer, 'POST', '/updates', update(`project-${minute}`)),
        await call(newer, 'GET', '/estimates?kind=ranking&project=acme'),
        await call(newer, 'GET', '/v3/projects'),
        await call(newer, 'GET', `/v3/on-demand/project-${minute}/run`),
      ]
      return { failed: minutes.flatMap(({ failed = [] }) => failed), lines: minutes.flatMap(({ lines = [] }) => lines) }
    })
    expect(outcome).toEqual(shifted)
    expect(Math.max(...[...statuses].map(Number))).toBeGreaterThanOrEqual(402)
  })

  test('while the service fails the run only', async () => {
    const { call } = await startVersions((url) => (url.includes('/run') ? json({}, 500) : undefined))
    const outcome = await shift(stack, newer, (minute) => call(newer, 'POST', '/updates', update(`project-${minute}`)))
    expect(outcome).toEqual(shifted)
  })

  test('while the service breaks off its answers, also a minute after the call began', async () => {
    const { call } = await startVersions((url) =>
      url.includes('export-rankings')
        ? {
            kind: 'raw',
            bytes: `HTTP/1.1 200 OK\r\ncontent-type: text/csv\r\ncontent-length: 3000000\r\n\r\n${'x'.repeat(200_000)}`,
          }
        : undefined,
    )
    const broken = () => call(newer, 'GET', '/v3/projects/acme/export-rankings')
    expect((await broken()).failed).toEqual([0])
    expect(await shift(stack, newer, broken)).toEqual(shifted)
    const { lines = [] } = await broken()
    const later = (minute: number): Minute =>
      minute % 5 === 1 ? { failed: [1] } : { lines: minute % 5 === 2 ? lines : [] }
    expect(await shift(stack, newer, later)).toEqual(shifted)
    // Broken answers of the old version do not hide a crash of the new one.
    const { lines: ofOlder = [] } = await call(older, 'GET', '/v3/projects/acme/export-rankings')
    expect(await shift(stack, newer, () => ({ failed: [0], lines: ofOlder }))).toMatchObject({ alarms: ['Crashes'] })
  })

  test('while a budget is full, and a caller asks too often', async () => {
    const { call, statuses } = await startVersions()
    const full = update('acme', { budget: 'small' })
    expect(await shift(stack, newer, () => call(newer, 'POST', '/updates', full))).toEqual(shifted)
    expect([...statuses]).toEqual([402])
  })

  test('while too many calls at once change the same records', async () => {
    const { call, failing, statuses } = await startVersions()
    const how = () => new Contention('others are faster')
    expect(await shift(stack, newer, () => failing(how, () => call(newer, 'GET', '/budgets')))).toEqual(shifted)
    expect([...statuses]).toEqual([503])
  })

  test('while the old version fails, also at its own address', async () => {
    const { call, failing } = await startVersions()
    const how = () => new TypeError('undefined is not a function')
    for (const version of [older, '$LATEST'])
      expect(await shift(stack, newer, () => failing(how, () => call(version, 'GET', '/budgets')))).toEqual(shifted)
  })
})
