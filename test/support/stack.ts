import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Template } from 'aws-cdk-lib/assertions'
import { App, Validations } from 'aws-cdk-lib/core'
import { AwsSolutionsChecks, ServerlessChecks } from 'cdk-nag'
import { readDeployment } from '../../infra/deployment.ts'
import { UnitGuardStack } from '../../infra/unit-guard-stack.ts'

/** What a deployment must be told. */
export const needed = {
  ACCOUNT_UNITS_PER_MONTH: '50000',
  TRACKING_BASE_URL: 'https://service.example/v3',
}

// biome-ignore lint/suspicious/noExplicitAny: templates are JSON, and tests look into them as CloudFormation does.
type Json = any

export interface Resource {
  readonly id: string
  readonly Type: string
  readonly Properties: Json
  readonly DeletionPolicy?: string
}

/** Synthesizes the stack without bundling anything, and throws what cdk-nag finds. */
export function synthesize(
  options: {
    env?: Record<string, string>
    context?: Record<string, unknown>
    plans?: readonly object[]
    checks?: false
  } = {},
) {
  const env = { ...needed, ...options.env, ...(options.plans && { PLANS: writePlans(options.plans) }) }
  const deployment = readDeployment(env, (name) => options.context?.[name])
  const folder = emptyBundle()
  const bundles = { api: folder, slack: folder, scheduled: folder, outbox: folder, sandbox: folder }
  const app = new App({ outdir: mkdtempSync(join(tmpdir(), 'unit-guard-synth-')) })
  const stack = new UnitGuardStack(app, 'UnitGuard', { deployment, bundles })
  if (options.checks !== false) Validations.of(app).addPlugins(new AwsSolutionsChecks(app), new ServerlessChecks(app))
  app.synth()
  const template = Template.fromStack(stack)
  const resources: Resource[] = Object.entries(template.toJSON().Resources as Record<string, Json>).map(
    ([id, resource]) => ({ id, ...resource }),
  )
  const ofType = (type: string) => resources.filter(({ Type }) => Type === type)
  return { template, resources, ofType, functions: functionsOf(ofType) }
}

export type Synthesized = ReturnType<typeof synthesize>

/** The functions by the names that the stack gives them: `Api`, `SlackApp`, `Scheduled`, `OutboxStart`, `OutboxTell`. */
function functionsOf(ofType: (type: string) => Resource[]) {
  return Object.fromEntries(
    ofType('AWS::Lambda::Function').map((resource) => [resource.id.replace(/Function[0-9A-F]{8}$/, ''), resource]),
  )
}

/** Names of what is made, instead of references: `LedgerTable.Arn`, `SecretsSlack`, without the hashes of the CDK. */
export function plain(value: Json): Json {
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value !== 'object' || value === null) return value
  const { Ref, 'Fn::GetAtt': att, 'Fn::Join': join } = value
  if (Ref !== undefined) return withoutHash(Ref)
  if (att !== undefined) return `${withoutHash(att[0])}.${att[1]}`
  if (join !== undefined) return join[1].map(plain).join(join[0])
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, plain(member)]))
}

const withoutHash = (id: string): string => id.replace(/[0-9A-F]{8}$/, '')

function emptyBundle(): string {
  const folder = mkdtempSync(join(tmpdir(), 'unit-guard-bundle-'))
  writeFileSync(join(folder, 'index.mjs'), '')
  return folder
}

export function writePlans(plans: readonly object[]): string {
  const file = join(mkdtempSync(join(tmpdir(), 'unit-guard-plans-')), 'plans.json')
  writeFileSync(file, JSON.stringify(plans))
  return file
}
