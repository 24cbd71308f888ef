import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Annotations, Match, Template } from 'aws-cdk-lib/assertions'
import { App, Stack } from 'aws-cdk-lib/core'
import { bundleNames } from '../../../infra/code.ts'
import { readEdge, readProps } from '../../../infra/options.ts'
import type { UnitGuardProps } from '../../../infra/props.ts'
import { addStacks } from '../../../infra/unit-guard-stack.ts'
import { needed, writeIssuers, writePlans, writeTargets } from './deployment.ts'

// biome-ignore lint/suspicious/noExplicitAny: templates are JSON, and tests look into them as CloudFormation does.
type Json = any

export interface Resource {
  readonly id: string
  readonly Type: string
  readonly Properties: Json
  readonly DeletionPolicy?: string
}

export interface Synthesis {
  readonly env?: Readonly<Record<string, string>>
  readonly context?: Readonly<Record<string, unknown>>
  readonly plans?: readonly object[]
  readonly issuers?: readonly object[]
  readonly targets?: readonly object[]
  /** The region of the guard, if there is a domain. */
  readonly region?: string
  /** The folder of the bundles; by default they are empty. */
  readonly bundles?: string
  /** Feature flags of the CDK. */
  readonly flags?: Readonly<Record<string, unknown>>
  /** Props of an app besides the options; the app has its own stack. */
  readonly own?: (own: Stack) => Partial<UnitGuardProps>
  /** Runs everything that checks a template: cdk-nag and the CDK's own checks, which take longer than all the rest. */
  readonly checks?: (app: App) => void
}

/** Synthesizes the stack without bundling. @throws the findings of the checks, if they are requested. */
export function synthesize(options: Synthesis = {}) {
  const env = {
    ...needed,
    ...options.env,
    ...(options.plans && { PLANS: writePlans(options.plans) }),
    ...(options.issuers && { TRUSTED_ISSUERS: writeIssuers(options.issuers) }),
    ...(options.targets && { EVENT_TARGETS: writeTargets(options.targets) }),
  }
  const option = (name: string) => options.context?.[name]
  const outdir = mkdtempSync(join(tmpdir(), 'unit-guard-synth-'))
  const { checks } = options
  const app = new App({
    outdir,
    ...(options.flags && { context: options.flags }),
    stackTraces: false,
    treeMetadata: false,
    builtinCloudFormationValidation: checks !== undefined,
  })
  const edgeProps = readEdge(option)
  const there = options.region ?? region
  const own = options.own?.(new Stack(app, 'Own', edgeProps ? { env: { region: there } } : {}))
  const props = { ...readProps(env, option), ...own, bundles: options.bundles ?? emptyBundles() }
  const { guard: stack, edge } = addStacks(app, { props, edge: edgeProps, region: there })
  checks?.(app)
  app.synth()
  const template = Template.fromStack(stack)
  const resources = resourcesOf(template)
  const ofType = (type: string) => resources.filter(({ Type }) => Type === type)
  /** The warnings of synth for the operator, without its refusals. */
  const told = () =>
    Annotations.fromStack(stack)
      .findInfo('*', Match.anyValue())
      .map(({ entry }) => String(entry.data))
  return {
    template,
    resources,
    ofType,
    told,
    functions: functionsOf(ofType),
    /** The folder of the template and its assets. */
    folder: outdir,
    /** The resources of the edge; empty without a domain. */
    edge: edge ? resourcesOf(Template.fromStack(edge)) : [],
  }
}

const resourcesOf = (template: Template): Resource[] =>
  Object.entries(template.toJSON().Resources as Record<string, Json>).map(([id, resource]) => ({ id, ...resource }))

const region = 'eu-central-1'

export type Synthesized = ReturnType<typeof synthesize>

/** The functions by their names in the stack: `Api`, `Mcp`, `SlackApp`, `Scheduled`, `OutboxStart`, `OutboxTell`. */
function functionsOf(ofType: (type: string) => Resource[]) {
  return Object.fromEntries(
    ofType('AWS::Lambda::Function').map((resource) => [resource.id.replace(/Function[0-9A-F]{8}$/, ''), resource]),
  )
}

/** Replaces references with names: `LedgerTable.Arn`, `SecretsSlack`, without the hashes of the CDK. */
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

export function emptyBundles(): string {
  const folder = mkdtempSync(join(tmpdir(), 'unit-guard-bundles-'))
  for (const name of bundleNames) {
    mkdirSync(join(folder, name))
    writeFileSync(join(folder, name, 'index.mjs'), '')
  }
  return folder
}
