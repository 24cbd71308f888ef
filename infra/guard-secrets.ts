import type { IKey } from 'aws-cdk-lib/aws-kms'
import { CfnSecret } from 'aws-cdk-lib/aws-secretsmanager'
import { RemovalPolicy, Stack, Token } from 'aws-cdk-lib/core'
import { Construct } from 'constructs'
import { type SecretName, settingOfSecret } from '../shared/platform/prefix.ts'
import { WrongSettings } from '../shared/platform/settings.ts'
import { edgeRegion } from './edge-region.ts'
import { acknowledge, type GuardFunction } from './guard-function.ts'

const keyLength = 64

export class GuardSecrets extends Construct {
  private readonly secrets: Readonly<Partial<Record<SecretName, CfnSecret>>>

  constructor(
    scope: Construct,
    id: string,
    { prefix, login, edge, key }: { prefix: string; login: boolean; edge: boolean; key: IKey | undefined },
  ) {
    super(scope, id)
    // A value without punctuation needs no escaping.
    const generated = { passwordLength: keyLength, excludePunctuation: true }
    this.secrets = {
      // Empty until an operator enters the token, so updates answer 503. The L2 construct would generate a value, and
      // the guard would send it to the service.
      'service-token': new CfnSecret(this, 'ServiceToken', {
        name: `${prefix}/service-token`,
        description: "The tracking service's token; only Unit Guard holds it",
      }),
      'caller-key': new CfnSecret(this, 'CallerKey', {
        name: `${prefix}/caller-key`,
        description: "The key that callers' tokens are signed with (HS256)",
        generateSecretString: generated,
      }),
      'quote-key': new CfnSecret(this, 'QuoteKey', {
        name: `${prefix}/quote-key`,
        description: 'The key that the quotes of agents are signed with',
        generateSecretString: generated,
      }),
      // A random signing secret refuses every request until an app is installed.
      slack: new CfnSecret(this, 'Slack', {
        name: `${prefix}/slack`,
        description: 'The secrets shared with Slack: {"signingSecret":"…","botToken":"…","webhookUrl":"…"}',
        generateSecretString: { ...generated, secretStringTemplate: '{}', generateStringKey: 'signingSecret' },
      }),
      // Empty until an operator enters the client's secret. A public client has no secret.
      ...(login && {
        'login-client': new CfnSecret(this, 'LoginClient', {
          name: `${prefix}/login-client`,
          description: "The secret of the dashboard's client at the issuer where people log in",
        }),
      }),
      ...(edge && {
        origin: new CfnSecret(this, 'Origin', {
          name: `${prefix}/origin`,
          description: 'The secret that the edge adds to each request: {"current":"…","previous":"…"}',
          generateSecretString: { ...generated, secretStringTemplate: '{}', generateStringKey: 'current' },
          replicaRegions: this.edgeRegions(),
        }),
      }),
    }
    // A key belongs to one region, so the replica for the edge has AWS's own key.
    if (key) for (const secret of Object.values(this.secrets)) secret.kmsKeyId = key.keyArn
    const { origin, ...kept } = this.secrets
    // These secrets are deleted only if the first deployment fails, because a retry needs their names.
    for (const secret of Object.values(kept)) secret.applyRemovalPolicy(RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE)
    // Only the edge uses this secret. A later deployment with a domain generates a new secret.
    origin?.applyRemovalPolicy(RemovalPolicy.DESTROY)
    acknowledge(this, {
      'AwsSolutions-SMG4':
        'People enter the secrets of the service, Slack and the login issuer. People rotate the other keys, because tokens and quotes end with theirs, and the edge needs a deployment (docs/deploy.md)',
    })
  }

  /** CloudFormation reads the value in the region of the edge. */
  private edgeRegions(): CfnSecret.ReplicaRegionProperty[] {
    const { region } = Stack.of(this)
    if (Token.isUnresolved(region)) throw new WrongSettings('domain: needs a stack with a region of its own (env)')
    return region === edgeRegion ? [] : [{ region: edgeRegion }]
  }

  bindTo(fn: GuardFunction, ...names: readonly SecretName[]): void {
    for (const name of names) {
      const arn = this.secrets[name]?.ref
      if (arn === undefined) continue
      fn.set(settingOfSecret[name], arn)
      fn.allow(['secretsmanager:GetSecretValue'], [arn])
    }
  }
}
