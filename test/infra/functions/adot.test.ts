import { describe, expect, test } from 'vitest'
import { adot } from '../../support/infra/deployment.ts'
import { grantsOf } from '../../support/infra/grants.ts'
import { synthesize, withoutVersion } from '../../support/infra/stack.ts'

const without = synthesize()
const traced = synthesize({ context: { adot } })
const environment = {
  AWS_LAMBDA_EXEC_WRAPPER: '/opt/otel-instrument',
  OTEL_PROPAGATORS: 'xray-lambda',
  OTEL_AWS_APPLICATION_SIGNALS_ENABLED: 'false',
}
const grant = { may: ['xray:PutTraceSegments', 'xray:PutTelemetryRecords'], on: ['*'] }

describe('-c adot=… traces every function', () => {
  test.each(Object.entries(traced.functions))(
    '%s has the layer, tracing and what starts it, and nothing else new',
    (name, { Properties }) => {
      const { Layers, TracingConfig, Environment, ...others } = Properties
      expect([Layers, TracingConfig]).toEqual([[adot], { Mode: 'Active' }])
      const { Environment: before, ...same } = without.functions[name]?.Properties ?? {}
      expect(Environment.Variables).toEqual({ ...before.Variables, ...environment })
      expect(others).toEqual(same)
    },
  )

  test('the roles may send traces, and nothing else new', () => {
    const { ApiCanary: ofCodeDeploy, ...roles } = grantsOf(traced)
    const before = grantsOf(without)
    expect(ofCodeDeploy).toEqual(before.ApiCanary)
    for (const [name, grants] of Object.entries(roles)) {
      expect(grants).toContainEqual(grant)
      expect(grants.filter(({ may }) => !may[0]?.startsWith('xray:'))).toEqual(before[name])
    }
  })

  test('nothing else changes', () => {
    const others = ({ resources }: typeof traced) =>
      resources.filter(({ Type }) => !['AWS::Lambda::Function', 'AWS::IAM::Policy'].includes(Type))
    expect(withoutVersion(others(traced))).toEqual(withoutVersion(others(without)))
  })

  test('the stand-in is not traced', () => {
    const { functions } = synthesize({ env: { TRACKING_BASE_URL: '' }, context: { sandbox: 'true', adot } })
    expect(functions.Sandbox?.Properties).not.toHaveProperty('Layers')
  })
})

test('without the option no function has a layer or is traced', () => {
  const template = JSON.stringify(without.template.toJSON())
  for (const trace of ['Layers', 'TracingConfig', 'xray', 'OTEL', 'AWS_LAMBDA_EXEC_WRAPPER'])
    expect(template).not.toContain(trace)
})
