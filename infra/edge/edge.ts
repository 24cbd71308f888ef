import { Certificate, CfnCertificate } from 'aws-cdk-lib/aws-certificatemanager'
import {
  AllowedMethods,
  type BehaviorOptions,
  CachePolicy,
  Distribution,
  HttpVersion,
  OriginRequestPolicy,
  OriginSslPolicy,
  SecurityPolicyProtocol,
  ViewerProtocolPolicy,
} from 'aws-cdk-lib/aws-cloudfront'
import { HttpOrigin } from 'aws-cdk-lib/aws-cloudfront-origins'
import { CfnRecordSet } from 'aws-cdk-lib/aws-route53'
import { CfnWebACL } from 'aws-cdk-lib/aws-wafv2'
import { type CfnOutput, Duration, Fn, Stack } from 'aws-cdk-lib/core'
import { Construct } from 'constructs'
import { pathsOf } from '../../shared/api/paths.ts'
import { originHeader } from '../../shared/platform/edge.ts'
import { originSecretOf } from '../../shared/platform/prefix.ts'
import { WrongSettings } from '../../shared/platform/settings.ts'
import { acknowledge } from '../guard-function.ts'
import { type EdgeOptions, edgeRegion, type GuardHost } from '../props.ts'

/** As long as a function may run. With a shorter timeout, a caller would lose the answer of a slow function. */
const readTimeout = Duration.minutes(2)

/** The requests of one address in five minutes. */
const usualRequests = 2_000

export interface EdgeProps extends EdgeOptions {
  /** The guard with this `domain`. */
  readonly guard: {
    readonly prefix: string
    readonly region: string
    readonly hosts: Readonly<Partial<Record<GuardHost, CfnOutput>>>
  }
}

/** The one address of a guard: a distribution of CloudFront, which caches nothing and changes no request. */
export class Edge extends Construct {
  readonly distribution: Distribution

  constructor(scope: Construct, id: string, props: EdgeProps) {
    super(scope, id)
    if (Stack.of(this).region !== edgeRegion) throw new WrongSettings(`Edge: its stack must be in ${edgeRegion} (env)`)
    const { guard, domain, hostedZone } = props
    const { slack, mcp, dashboard } = pathsOf
    const originTo = (name: GuardHost) => this.originTo(guard.hosts[name], props)
    const pages = { viewerProtocolPolicy: ViewerProtocolPolicy.REDIRECT_TO_HTTPS }
    const behaviors = [
      ...behaviorsOf(slack, originTo('slack')),
      ...behaviorsOf(mcp, originTo('mcp')),
      ...behaviorsOf(dashboard, originTo('dashboard'), pages),
    ]
    this.distribution = new Distribution(this, 'Distribution', {
      comment: `Unit Guard (${guard.prefix}, ${guard.region})`,
      domainNames: [domain],
      certificate: Certificate.fromCertificateArn(this, 'Given', this.certificateOf(props)),
      minimumProtocolVersion: SecurityPolicyProtocol.TLS_V1_2_2021,
      httpVersion: HttpVersion.HTTP2_AND_3,
      webAclId: this.rules(props).attrArn,
      defaultBehavior: behavior(originTo('api')),
      additionalBehaviors: Object.fromEntries(behaviors),
      // By default CloudFront keeps an error for ten seconds, and gives it to other callers.
      errorResponses: keptErrors.map((httpStatus) => ({ httpStatus, ttl: Duration.seconds(0) })),
    })
    if (hostedZone !== undefined) this.nameIn(hostedZone, domain)
    acknowledge(this, {
      'AwsSolutions-CFR1':
        'Callers may be in any country: a token or a signature decides, and rules bound each address',
      'AwsSolutions-CFR3':
        'Each request that passes is a line of the log, and blocked requests are a metric with samples',
    })
  }

  /** Makes one attempt, because a second one would repeat a GET that runs an update. */
  private originTo(host: CfnOutput | undefined, { guard, originVersion = '' }: EdgeProps): HttpOrigin {
    if (!host) throw new WrongSettings('Edge: its guard needs the domain, too')
    const secret = `${originSecretOf(guard.prefix, guard.region)}:SecretString:current::${originVersion}`
    return new HttpOrigin(read(host, Stack.of(this)), {
      originSslProtocols: [OriginSslPolicy.TLS_V1_2],
      connectionAttempts: 1,
      readTimeout,
      keepaliveTimeout: Duration.minutes(1),
      customHeaders: { [originHeader]: `{{resolve:secretsmanager:${secret}}}` },
    })
  }

  private certificateOf({ domain, hostedZone, certificate }: EdgeProps): string {
    if (certificate !== undefined) return certificate
    return new CfnCertificate(this, 'Certificate', {
      domainName: domain,
      validationMethod: 'DNS',
      ...(hostedZone !== undefined && { domainValidationOptions: [{ domainName: domain, hostedZoneId: hostedZone }] }),
    }).ref
  }

  private rules({ guard, requestsPerAddress = usualRequests }: EdgeProps): CfnWebACL {
    const metric = (metricName: string) => ({
      metricName,
      cloudWatchMetricsEnabled: true,
      sampledRequestsEnabled: true,
    })
    const tooMany = { responseCode: 429, responseHeaders: [{ name: 'Retry-After', value: '60' }] }
    const perAddress = { limit: requestsPerAddress, evaluationWindowSec: 300, aggregateKeyType: 'IP' }
    // The edges of all regions are in one region.
    const own = `${guard.prefix}-${guard.region}`
    return new CfnWebACL(this, 'Rules', {
      name: `${own}-edge`,
      scope: 'CLOUDFRONT',
      defaultAction: { allow: {} },
      visibilityConfig: metric(`${own}-edge`),
      rules: [
        {
          name: 'flood',
          priority: 0,
          action: { block: { customResponse: tooMany } },
          statement: { rateBasedStatement: perAddress },
          visibilityConfig: metric(`${own}-flood`),
        },
      ],
    })
  }

  private nameIn(hostedZoneId: string, name: string): void {
    for (const type of ['A', 'AAAA'])
      new CfnRecordSet(this, type, {
        hostedZoneId,
        name,
        type,
        aliasTarget: { dnsName: this.distribution.distributionDomainName, hostedZoneId: zoneOfCloudFront },
      })
  }
}

/** No other function of CloudFormation may contain `Fn::GetStackOutput`, so the output must already be the host. */
function read({ stack: owner, logicalId, value }: CfnOutput, reader: Stack): string {
  if (owner === reader) return value
  reader.addStackDependency(owner)
  return Fn.getStackOutput(owner.stackName, owner.resolve(logicalId), owner.region)
}

/** @see https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-properties-route53-recordset-aliastarget.html */
const zoneOfCloudFront = 'Z2FDTNDATAQYW2'

/** @see https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/HTTPStatusCodes.html */
const keptErrors = [400, 403, 404, 405, 414, 416, 500, 501, 502, 503, 504]

/** Nothing is kept, nothing is compressed, and no two requests share an answer. */
const behavior = (origin: HttpOrigin, own: Partial<BehaviorOptions> = {}): BehaviorOptions => ({
  origin,
  allowedMethods: AllowedMethods.ALLOW_ALL,
  cachePolicy: CachePolicy.CACHING_DISABLED,
  originRequestPolicy: OriginRequestPolicy.ALL_VIEWER_EXCEPT_HOST_HEADER,
  compress: false,
  // A redirect would hide that a program sends its token in clear text.
  viewerProtocolPolicy: ViewerProtocolPolicy.HTTPS_ONLY,
  ...own,
})

const behaviorsOf = (paths: readonly string[], origin: HttpOrigin, own?: Partial<BehaviorOptions>) =>
  paths.map((path) => [path, behavior(origin, own)] as const)
