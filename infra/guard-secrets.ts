import { CfnSecret } from 'aws-cdk-lib/aws-secretsmanager'
import { RemovalPolicy } from 'aws-cdk-lib/core'
import { Construct } from 'constructs'
import { type SecretName, settingOfSecret } from '../shared/platform/prefix.ts'
import { acknowledge, type GuardFunction } from './guard-function.ts'

const keyLength = 64

export class GuardSecrets extends Construct {
  private readonly secrets: Readonly<Partial<Record<SecretName, CfnSecret>>>

  constructor(scope: Construct, id: string, { prefix, login }: { prefix: string; login: boolean }) {
    super(scope, id)
    // Without punctuation it can be pasted without escaping.
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
        description: 'What Slack and Unit Guard share: {"signingSecret":"…","botToken":"…","webhookUrl":"…"}',
        generateSecretString: { ...generated, secretStringTemplate: '{}', generateStringKey: 'signingSecret' },
      }),
      // Empty until an operator enters it. A public client has none.
      ...(login && {
        'login-client': new CfnSecret(this, 'LoginClient', {
          name: `${prefix}/login-client`,
          description: "The secret of the dashboard's client at the issuer where people log in",
        }),
      }),
    }
    // Deleted only where the first deployment fails, because its retry needs the names.
    for (const secret of Object.values(this.secrets))
      secret.applyRemovalPolicy(RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE)
    acknowledge(this, {
      'AwsSolutions-SMG4':
        'The service, Slack and the login issuer issue theirs by hand; a person rotates the keys of tokens and quotes, because these end with them (docs/deploy.md)',
    })
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
