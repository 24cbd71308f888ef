import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { App, Stack } from 'aws-cdk-lib/core'
import { describe, expect, test } from 'vitest'
import { Edge } from '../../infra/edge/edge.ts'
import { readEdge, readProps } from '../../infra/options.ts'
import { pathsOf } from '../../shared/api/paths.ts'
import { behindEdge, needed } from '../support/infra/deployment.ts'
import { plain, synthesize } from '../support/infra/stack.ts'
import { variants } from '../support/infra/variants.ts'

const { template, edge, functions, ofType } = synthesize({ context: behindEdge })
const only = (type: string) => edge.filter(({ Type }) => Type === type).map(({ Properties }) => Properties)
const [{ DistributionConfig: config }] = only('AWS::CloudFront::Distribution')
const origins = config.Origins as Record<string, never>[]
const behaviors = [config.DefaultCacheBehavior, ...config.CacheBehaviors]

const outputs = template.toJSON().Outputs

/** The output as CloudFormation resolves it, with the URL `https://<its logical id>.example/` for each function. */
function resolved(output: object): string {
  const { 'Fn::GetAtt': att, 'Fn::Split': split, 'Fn::Select': select } = Object(output)
  if (split) return resolved(split[1]).split(split[0]) as never
  if (select) return resolved(select[1])[select[0]] ?? ''
  return `https://${att[0]}.example/`
}

/** The function behind an origin. The edge reads its host only from an output of the guard's stack. */
function functionOf({ DomainName }: Record<string, never>): string {
  const { 'Fn::GetStackOutput': output, ...others } = Object(DomainName)
  const { StackName, Region, OutputName } = output
  expect([StackName, Region, others]).toEqual(['UnitGuard', 'eu-central-1', {}])
  return /^(\w+?)Function\w+\.example$/.exec(resolved(outputs[OutputName].Value))?.[1] ?? ''
}
const behind = Object.fromEntries(origins.map((origin) => [origin.Id, functionOf(origin)]))

describe('the distribution', () => {
  test('the distribution routes the paths of each function to that function, and all other paths to the API', () => {
    const lead = (paths: readonly string[], to: string) => paths.map((path) => [path, to])
    expect(behaviors.map(({ PathPattern, TargetOriginId }) => [PathPattern, behind[TargetOriginId]])).toEqual([
      [undefined, 'Api'],
      ...lead(pathsOf.slack, 'SlackApp'),
      ...lead(pathsOf.mcp, 'Mcp'),
      ...lead(pathsOf.dashboard, 'Dashboard'),
    ])
    expect(config.DefaultRootObject).toBeUndefined()
  })

  test('the distribution caches nothing, joins no requests and passes every method', () => {
    const methods = ['GET', 'HEAD', 'OPTIONS', 'PUT', 'PATCH', 'POST', 'DELETE']
    for (const { PathPattern: _path, TargetOriginId: _origin, ViewerProtocolPolicy: _policy, ...behavior } of behaviors)
      expect(behavior).toEqual({
        AllowedMethods: methods,
        Compress: false,
        // CachingDisabled also keeps simultaneous requests apart; the other policy is AllViewerExceptHostHeader.
        CachePolicyId: '4135ea2d-6df8-44a3-9df3-4b5a84be39ad',
        OriginRequestPolicyId: 'b689b0a8-53d0-40ab-baf2-68738e2966ac',
      })
    // CloudFront may keep nothing else.
    expect(config.CustomErrorResponses).toEqual(
      [400, 403, 404, 405, 414, 416, 500, 501, 502, 503, 504].map((ErrorCode) => ({
        ErrorCode,
        ErrorCachingMinTTL: 0,
      })),
    )
  })

  test('the distribution sends a request once, and waits as long as a function may run', () => {
    expect(origins).toHaveLength(4)
    for (const origin of origins) {
      const { ConnectionAttempts, CustomOriginConfig } = origin
      expect([ConnectionAttempts, CustomOriginConfig]).toEqual([
        1,
        {
          OriginReadTimeout: 120,
          OriginKeepaliveTimeout: 60,
          OriginProtocolPolicy: 'https-only',
          OriginSSLProtocols: ['TLSv1.2'],
        },
      ])
      expect(functions[functionOf(origin)]?.Properties.Timeout).toBeLessThanOrEqual(120)
    }
  })

  test('the distribution adds the secret, which is in no template', () => {
    const reference = '{{resolve:secretsmanager:unit-guard/origin-eu-central-1:SecretString:current::}}'
    for (const { OriginCustomHeaders } of origins)
      expect(OriginCustomHeaders).toEqual([{ HeaderName: 'x-origin-verify', HeaderValue: reference }])
  })

  test('the distribution requires TLS 1.2, and redirects only browsers from http to https', () => {
    expect(config.ViewerCertificate).toMatchObject({
      MinimumProtocolVersion: 'TLSv1.2_2021',
      SslSupportMethod: 'sni-only',
    })
    expect([config.HttpVersion, config.IPV6Enabled, config.Aliases]).toEqual(['http2and3', true, ['guard.example.com']])
    const leading = behaviors.filter(({ ViewerProtocolPolicy }) => ViewerProtocolPolicy === 'redirect-to-https')
    expect(new Set(leading.map(({ TargetOriginId }) => behind[TargetOriginId]))).toEqual(new Set(['Dashboard']))
    expect(behaviors.filter(({ ViewerProtocolPolicy }) => ViewerProtocolPolicy === 'https-only')).toHaveLength(4)
  })

  test('the distribution has rules that stop a flood from one address', () => {
    expect(plain(config.WebACLId)).toBe('Rules.Arn')
    expect(only('AWS::WAFv2::WebACL')).toMatchObject([
      {
        Scope: 'CLOUDFRONT',
        DefaultAction: { Allow: {} },
        Rules: [
          {
            Statement: { RateBasedStatement: { Limit: 2000, EvaluationWindowSec: 300, AggregateKeyType: 'IP' } },
            Action: {
              Block: { CustomResponse: { ResponseCode: 429, ResponseHeaders: [{ Name: 'Retry-After', Value: '60' }] } },
            },
          },
        ],
      },
    ])
  })
})

describe('the domain', () => {
  test('the domain has a certificate and records in the hosted zone', () => {
    expect(only('AWS::CertificateManager::Certificate')).toEqual([
      {
        DomainName: 'guard.example.com',
        ValidationMethod: 'DNS',
        DomainValidationOptions: [{ DomainName: 'guard.example.com', HostedZoneId: 'Z0123456789ABC' }],
      },
    ])
    expect(only('AWS::Route53::RecordSet').map(({ Type, Name, HostedZoneId }) => [Type, Name, HostedZoneId])).toEqual([
      ['A', 'guard.example.com', 'Z0123456789ABC'],
      ['AAAA', 'guard.example.com', 'Z0123456789ABC'],
    ])
  })

  test('for a domain with a given certificate the stack makes no certificate and no records', () => {
    const { context } = variants.givenCertificate
    const given = synthesize(variants.givenCertificate).edge
    expect(given.map(({ Type }) => Type).toSorted()).toEqual(['AWS::CloudFront::Distribution', 'AWS::WAFv2::WebACL'])
    const text = JSON.stringify(given)
    expect(text).toContain(`"AcmCertificateArn":"${context.certificate}"`)
    expect(text).toContain('"Limit":500')
    // A changed reference makes CloudFormation read the secret again.
    expect(text).toContain(`SecretString:current::${context.originVersion}}}`)
  })
})

describe('the guard behind the edge', () => {
  const settingOf = (name: string, from = functions) =>
    Object.entries(from).flatMap(([each, { Properties }]) => {
      const value = Properties.Environment?.Variables[name]
      return value === undefined ? [] : [[each, plain(value)]]
    })
  const secretsIn = (from: typeof ofType) =>
    from('AWS::SecretsManager::Secret').filter(({ Properties }) => Properties.Name.startsWith('unit-guard/origin'))

  test('a guard behind the edge closes the four functions that have an address', () => {
    const closed = ['Dashboard', 'Api', 'Mcp', 'SlackApp']
    expect(settingOf('ORIGIN_SECRET')).toEqual(closed.map((name) => [name, 'SecretsOrigin']))
  })

  test('a guard behind the edge uses the domain in its links and for agents', () => {
    const links = new Set(settingOf('DASHBOARD_URL').map(([, value]) => value))
    expect([...links, ...settingOf('PUBLIC_URL')]).toEqual([
      'https://guard.example.com',
      ['Mcp', 'https://guard.example.com'],
    ])
  })

  test('a guard behind the edge makes the secret, and a copy that CloudFormation reads for the edge', () => {
    expect(secretsIn(ofType)).toMatchObject([
      {
        DeletionPolicy: 'Delete',
        Properties: {
          ReplicaRegions: [{ Region: 'us-east-1' }],
          GenerateSecretString: { GenerateStringKey: 'current', SecretStringTemplate: '{}', PasswordLength: 64 },
        },
      },
    ])
    const there = synthesize({ context: behindEdge, region: 'us-east-1' })
    expect(secretsIn(there.ofType).map(({ Properties }) => Properties.ReplicaRegions ?? [])).toEqual([[]])
  })

  test('a guard behind the edge stays open while callers move to the domain', () => {
    const moving = synthesize({ ...variants.edgeInOneRegion, region: 'eu-central-1' })
    expect(settingOf('ORIGIN_SECRET', moving.functions)).toEqual([])
    expect(secretsIn(moving.ofType)).toHaveLength(1)
    expect(moving.edge).toHaveLength(edge.length)
  })
})

describe('the policy for a narrowed execution role of the edge', () => {
  const file = join(resolve(import.meta.dirname, '../..'), 'docs/pipeline/edge-execution-policy.json')
  const policy: { Statement: readonly { Action: readonly string[]; Resource: string }[] } = JSON.parse(
    readFileSync(file, 'utf8'),
  )

  test('the policy of the edge reads one secret, and names every resource that has a name', () => {
    const resourceOf = (action: string) => policy.Statement.find(({ Action }) => Action.includes(action))?.Resource
    expect(resourceOf('secretsmanager:GetSecretValue')).toBe(
      'arn:aws:secretsmanager:us-east-1:*:secret:unit-guard/origin-*',
    )
    expect(resourceOf('wafv2:CreateWebACL')).toBe('arn:aws:wafv2:us-east-1:*:global/webacl/unit-guard-*/*')
    expect(resourceOf('cloudformation:DescribeStacks')).toBe('arn:aws:cloudformation:*:*:stack/UnitGuard/*')
    const open = policy.Statement.filter(({ Resource }) => Resource === '*')
    expect(open.map(({ Action }) => Action)).toEqual([
      ['acm:RequestCertificate', 'cloudfront:CreateDistribution', 'route53:ListHostedZones'],
    ])
  })
})

describe('the refusal of an edge', () => {
  const certificate = 'arn:aws:acm:eu-central-1:123456789012:certificate/0f2a1c9e-1111-4222-8333-444455556666'
  test.each<[string, Record<string, string>, string]>([
    ['with a domain alone', { domain: 'guard.example.com' }, 'domain: needs either hostedZone, '],
    ['with an address for a domain', { ...behindEdge, domain: 'https://guard.example.com' }, 'domain: must be a name'],
    ['with a certificate of elsewhere', { domain: 'guard.example.com', certificate }, 'certificate in us-east-1'],
    ['with a zone by name', { domain: 'guard.example.com', hostedZone: 'example.com' }, 'id of a hosted zone'],
    ['with a zone alone', { hostedZone: 'Z0123456789ABC' }, 'hostedZone: must be unset without a domain'],
    ['with open addresses alone', { openUrls: 'true' }, 'openUrls: must be unset without a domain'],
  ])('an edge is refused %s', (_what, context, sentence) => {
    const option = (name: string) => context[name]
    expect(() => [readProps(needed, option), readEdge(option)]).toThrow(sentence)
  })

  test('an edge is refused with another address for the dashboard or for agents', () => {
    for (const name of ['DASHBOARD_URL', 'PUBLIC_URL']) {
      const env = { ...needed, [name]: 'https://units.example' }
      const option = (name: keyof typeof behindEdge) => behindEdge[name]
      expect(() => readProps(env, option as (name: string) => unknown)).toThrow(`${name}: must be unset with a domain`)
    }
  })

  test('an edge is refused without a region', () => {
    expect(() => synthesize({ context: behindEdge, region: '' })).toThrow('AWS_REGION: is needed with a domain')
  })

  test('an edge of a guard that has no domain is refused', () => {
    const stack = new Stack(new App({ stackTraces: false }), 'There', { env: { region: 'us-east-1' } })
    const guard = { prefix: 'unit-guard', region: 'eu-central-1', hosts: {} }
    const make = () => new Edge(stack, 'Edge', { guard, domain: 'guard.example.com', hostedZone: 'Z0123456789ABC' })
    expect(make).toThrow('Edge: its guard needs the domain, too')
  })

  test('an edge in another region than us-east-1 is refused', () => {
    const stack = new Stack(new App({ stackTraces: false }), 'Elsewhere', { env: { region: 'eu-central-1' } })
    const guard = { prefix: 'unit-guard', region: 'eu-central-1', hosts: {} }
    const make = () => new Edge(stack, 'Edge', { guard, domain: 'guard.example.com', hostedZone: 'Z0123456789ABC' })
    expect(make).toThrow('Edge: its stack must be in us-east-1')
  })
})
