import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Queue } from 'aws-cdk-lib/aws-sqs'
import { App, Stack, Validations } from 'aws-cdk-lib/core'
import { AwsSolutionsChecks, ServerlessChecks } from 'cdk-nag'
import { expect, test, vi } from 'vitest'
import { adot, behindEdge, warehouse } from '../support/infra/deployment.ts'
import { synthesize } from '../support/infra/stack.ts'

const checks = (app: App) => Validations.of(app).addPlugins(new AwsSolutionsChecks(app), new ServerlessChecks(app))
const plan = { name: 'morning', kind: 'ranking', projects: ['acme'], schedule: 'cron(0 5 * * ? *)' }

test('cdk-nag (AwsSolutions, Serverless) and the CDK find no fault in the stack', () => {
  expect(() => synthesize({ checks, plans: [plan] })).not.toThrow()
})

test('cdk-nag and the CDK find no fault in the stacks with every option', () => {
  const context = { sandbox: true, alarmEmail: 'ops@example.com', reserve: 'on', adot, ...behindEdge }
  const env = { TRACKING_BASE_URL: '', EVENT_BUS: 'company' }
  expect(() => synthesize({ checks, context, env, targets: [warehouse] })).not.toThrow()
})

test('cdk-nag and the CDK report a stack with faults', () => {
  const app = new App({ outdir: mkdtempSync(join(tmpdir(), 'unit-guard-synth-')) })
  new Queue(new Stack(app, 'Other'), 'Queue')
  checks(app)
  const said = vi.spyOn(console, 'error').mockReturnValue()
  expect(() => app.synth()).toThrow(/[Vv]alidation/)
  said.mockRestore()
})
