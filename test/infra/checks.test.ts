import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Queue } from 'aws-cdk-lib/aws-sqs'
import { App, Stack, Validations } from 'aws-cdk-lib/core'
import { AwsSolutionsChecks, ServerlessChecks } from 'cdk-nag'
import { expect, test, vi } from 'vitest'
import { synthesize } from '../support/infra/stack.ts'

const checks = (app: App) => Validations.of(app).addPlugins(new AwsSolutionsChecks(app), new ServerlessChecks(app))
const plan = { name: 'morning', kind: 'ranking', projects: ['acme'], schedule: 'cron(0 5 * * ? *)' }

test('cdk-nag’s packs AwsSolutions and Serverless, and the CDK itself, find nothing in what is deployed', () => {
  expect(() => synthesize({ checks, plans: [plan] })).not.toThrow()
})

test('nor with every option', () => {
  const context = { sandbox: true, alarmEmail: 'ops@example.com', reservedConcurrency: 5 }
  expect(() => synthesize({ checks, context, env: { TRACKING_BASE_URL: '' } })).not.toThrow()
})

test('they do find something where there is something to find', () => {
  const app = new App({ outdir: mkdtempSync(join(tmpdir(), 'unit-guard-synth-')) })
  new Queue(new Stack(app, 'Other'), 'Queue')
  checks(app)
  const said = vi.spyOn(console, 'error').mockReturnValue()
  expect(() => app.synth()).toThrow(/[Vv]alidation/)
  said.mockRestore()
})
