import type { IKey } from 'aws-cdk-lib/aws-kms'
import { CfnSecret } from 'aws-cdk-lib/aws-secretsmanager'
import { ArnFormat, RemovalPolicy, Stack, Token } from 'aws-cdk-lib/core'
import { Construct } from 'constructs'
import { originSecretOf, type SecretName, settingOfSecret } from '../shared/platform/prefix.ts'
import { WrongSettings } from '../shared/platform/settings.ts'
import { acknowledge, type GuardFunction } from './guard-function.ts'
import { edgeRegion } from './props.ts'

const keyLength = 64
/** A value without punctuation needs no escaping. */
const generated = { passwordLength: keyLength, excludePunctuation: true }

interface GuardSecretsProps {
  readonly prefix: string
  readonly login: boolean
  readonly edge: boolean
  /** The secrets exist already, because an earlier stack with the same names has left them. */
  readonly existing: boolean
  readonly key: IKey | undefined
}

interface ReadableSecret {
  /** How a function names the secret. */
  readonly id: string
  readonly arn: string
}

export class GuardSecrets extends Construct {
  private readonly secrets: Readonly<Partial<Record<SecretName, ReadableSecret>>>

  constructor(scope: Construct, id: string, props: GuardSecretsProps) {
    super(scope, id)
    const kept = props.existing ? this.adopt(props) : readable(this.make(props))
    this.secrets = props.edge ? { ...kept, ...readable({ origin: this.makeOrigin(props) }) } : kept
    if (props.existing && !props.edge) return
    acknowledge(this, {
      'AwsSolutions-SMG4':
        'People enter the secrets of the service, Slack and the login issuer. People rotate the other keys, because tokens and quotes end with theirs, and the edge needs a deployment (docs/deploy.md)',
    })
  }

  private adopt({ prefix, login }: GuardSecretsProps): Partial<Record<SecretName, ReadableSecret>> {
    const names: SecretName[] = ['service-token', 'caller-key', 'quote-key', 'slack']
    if (login) names.push('login-client')
    return Object.fromEntries(
      names.map((name) => {
        const id = `${prefix}/${name}`
        return [name, { id, arn: arnOfExisting(this, id) }]
      }),
    )
  }

  private make({ prefix, login, key }: GuardSecretsProps): Partial<Record<SecretName, CfnSecret>> {
    const made: Partial<Record<SecretName, CfnSecret>> = {
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
    }
    // Empty until an operator enters the client's secret. A public client has no secret.
    if (login)
      made['login-client'] = new CfnSecret(this, 'LoginClient', {
        name: `${prefix}/login-client`,
        description: "The secret of the dashboard's client at the issuer where people log in",
      })
    for (const secret of Object.values(made)) {
      if (key) secret.kmsKeyId = key.keyArn
      // These secrets are deleted only if the first deployment fails, because a retry needs their names.
      secret.applyRemovalPolicy(RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE)
    }
    return made
  }

  /** Only the edge uses this secret. It goes with the stack, and a later deployment with a domain generates a new one. */
  private makeOrigin({ prefix, key }: GuardSecretsProps): CfnSecret {
    const origin = new CfnSecret(this, 'Origin', {
      name: originSecretOf(prefix, Stack.of(this).region),
      description: 'The secret that the edge adds to each request: {"current":"…","previous":"…"}',
      generateSecretString: { ...generated, secretStringTemplate: '{}', generateStringKey: 'current' },
      replicaRegions: this.edgeRegions(),
    })
    // A key belongs to one region, so the replica for the edge has AWS's own key.
    if (key) origin.kmsKeyId = key.keyArn
    origin.applyRemovalPolicy(RemovalPolicy.DESTROY)
    return origin
  }

  /** CloudFormation reads the value in the region of the edge. */
  private edgeRegions(): CfnSecret.ReplicaRegionProperty[] {
    const { region } = Stack.of(this)
    if (Token.isUnresolved(region)) throw new WrongSettings('domain: needs a stack with a region of its own (env)')
    return region === edgeRegion ? [] : [{ region: edgeRegion }]
  }

  bindTo(fn: GuardFunction, ...names: readonly SecretName[]): void {
    for (const name of names) {
      const secret = this.secrets[name]
      if (!secret) continue
      fn.set(settingOfSecret[name], secret.id)
      fn.allow(['secretsmanager:GetSecretValue'], [secret.arn])
    }
  }
}

const readable = (made: Partial<Record<SecretName, CfnSecret>>): Partial<Record<SecretName, ReadableSecret>> =>
  Object.fromEntries(Object.entries(made).map(([name, { ref }]) => [name, { id: ref, arn: ref }]))

/** AWS adds a hyphen and six characters to the name of a secret. */
export const arnOfExisting = (scope: Construct, name: string): string =>
  Stack.of(scope).formatArn({
    service: 'secretsmanager',
    resource: 'secret',
    resourceName: `${name}-??????`,
    arnFormat: ArnFormat.COLON_RESOURCE_NAME,
  })
