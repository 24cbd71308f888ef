import { join } from 'node:path'
import type { Resource, Synthesized } from '../support/infra/stack.ts'
import type { Statement } from './iam/policy.ts'

// biome-ignore lint/suspicious/noExplicitAny: values of templates are JSON.
type Json = any

/** The value in place of a reference to a resource or one of its attributes. */
export type Made = (resource: Resource, attribute?: string) => string

interface References {
  readonly made: Made
  readonly parameters: Readonly<Record<string, string>>
}

/** A function of the template as Lambda gets it. */
export interface TemplateFunction {
  readonly id: string
  /** The name in the stack: `Api`, `OutboxStart`. */
  readonly name: string
  readonly folder: string
  readonly handler: string
  readonly timeoutMs: number
  readonly memoryMb: number
  readonly environment: Readonly<Record<string, string>>
  readonly statements: readonly Statement[]
  /** The ARN of its log group. */
  readonly log: string
}

interface TemplateUrl {
  readonly id: string
  readonly functionId: string
  readonly streams: boolean
}

/** The content of a template after its resources are created. */
export function readTemplate({ resources, ofType, folder }: Synthesized, how: References) {
  const byId = new Map(resources.map((resource) => [resource.id, resource]))
  const known = (id: string): Resource => {
    const resource = byId.get(id)
    if (!resource) throw new Error(`the template has no ${id}`)
    return resource
  }
  const text = resolver(known, how)

  const functionOf = ({ id, Properties }: Resource): TemplateFunction => ({
    id,
    name: id.replace(/Function[0-9A-F]{8}$/, ''),
    folder: join(folder, `asset.${Properties.Code.S3Key.replace('.zip', '')}`),
    handler: Properties.Handler,
    timeoutMs: Properties.Timeout * 1000,
    memoryMb: Properties.MemorySize,
    environment: text(Properties.Environment.Variables),
    statements: statementsOf(Properties.Role['Fn::GetAtt'][0]),
    log: how.made(known(Properties.LoggingConfig.LogGroup.Ref), 'Arn'),
  })

  const statementsOf = (role: string): Statement[] =>
    ofType('AWS::IAM::Policy')
      .filter(({ Properties }) => Properties.Roles.some(({ Ref }: { Ref: string }) => Ref === role))
      .flatMap(({ Properties }) => text(Properties.PolicyDocument.Statement))

  const functionIn = (value: Json): string => {
    const found = referencesIn(value).find((id) => known(id).Type === 'AWS::Lambda::Function')
    if (found === undefined) throw new Error(`no function in ${JSON.stringify(value)}`)
    return found
  }

  return {
    functions: () => ofType('AWS::Lambda::Function').map(functionOf),
    urls: (): TemplateUrl[] =>
      ofType('AWS::Lambda::Url').map(({ id, Properties }) => ({
        id,
        functionId: functionIn(Properties.TargetFunctionArn),
        streams: Properties.InvokeMode === 'RESPONSE_STREAM',
      })),
    mappings: () =>
      ofType('AWS::Lambda::EventSourceMapping').map(({ Properties }) => ({
        functionId: functionIn(Properties.FunctionName),
        properties: text({ ...Properties, FunctionName: null }),
      })),
    /** The event of each rule, by its name. */
    rules: (): { readonly name: string; readonly functionId: string; readonly target: Json }[] =>
      ofType('AWS::Events::Rule').flatMap(({ Properties }) =>
        Properties.Targets.map(({ Arn, ...target }: Json) => ({
          name: Properties.Name,
          functionId: functionIn(Arn),
          target: text(target),
        })),
      ),
    asyncCalls: () =>
      ofType('AWS::Lambda::EventInvokeConfig').map(({ Properties }) => ({
        functionId: functionIn(Properties.FunctionName),
        properties: text({ ...Properties, FunctionName: null }),
      })),
  }
}

export const [region, account] = ['eu-central-1', '123456789012']

function referencesIn(value: Json): string[] {
  if (typeof value !== 'object' || value === null) return []
  const { Ref, 'Fn::GetAtt': att } = value
  if (Ref !== undefined) return [Ref]
  if (att !== undefined) return [att[0]]
  return Object.values(value).flatMap(referencesIn)
}

/** Replaces references as CloudFormation does. */
function resolver(known: (id: string) => Resource, { made, parameters }: References): (value: Json) => Json {
  const pseudo: Readonly<Record<string, string>> = {
    'AWS::Region': region,
    'AWS::AccountId': account,
    'AWS::Partition': 'aws',
    'AWS::URLSuffix': 'amazonaws.com',
    ...parameters,
  }
  return function text(value: Json): Json {
    if (Array.isArray(value)) return value.map(text)
    if (typeof value !== 'object' || value === null) return value
    const { Ref, 'Fn::GetAtt': att, 'Fn::Join': joined } = value
    if (Ref !== undefined) return pseudo[Ref] ?? made(known(Ref))
    if (att !== undefined) return made(known(att[0]), att[1])
    if (joined !== undefined) return joined[1].map(text).join(joined[0])
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, text(member)]))
  }
}
