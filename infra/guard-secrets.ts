import { CfnSecret } from 'aws-cdk-lib/aws-secretsmanager'
import { RemovalPolicy } from 'aws-cdk-lib/core'
import { Construct } from 'constructs'
import { acknowledge, type GuardFunction } from './guard-function.ts'

export type SecretName = 'service-token' | 'caller-key' | 'quote-key' | 'slack' | 'login-client'

const keyLength = 64

const settingOf: Readonly<Record<SecretName, string>> = {
  'service-token': 'SERVICE_TOKEN_SECRET',
  'caller-key': 'CALLER_KEY_SECRET',
  'quote-key': 'QUOTE_KEY_SECRET',
  slack: 'SLACK_SECRET',
  'login-client': 'LOGIN_CLIENT_SECRET',
}

export class GuardSecrets extends Construct {
  private readonly secrets: Readonly<Partial<Record<SecretName, CfnSecret>>>

  constructor(scope: Construct, id: string, { login }: { login: boolean }) {
    super(scope, id)
    // Without punctuation it can be pasted without escaping.
    const generated = { passwordLength: keyLength, excludePunctuation: true }
    this.secrets = {
      // Empty until an operator enters the token, so updates answer 503. The L2 construct would generate a value, and
      // the guard would send it to the service.
      'service-token': new CfnSecret(this, 'ServiceToken', {
        name: 'unit-guard/service-token',
        description: "The tracking service's token; only Unit Guard holds it",
      }),
      'caller-key': new CfnSecret(this, 'CallerKey', {
        name: 'unit-guard/caller-key',
        description: "The key that callers' tokens are signed with (HS256)",
        generateSecretString: generated,
      }),
      'quote-key': new CfnSecret(this, 'QuoteKey', {
        name: 'unit-guard/quote-key',
        description: 'The key that the quotes of agents are signed with',
        generateSecretString: generated,
      }),
      // A random signing secret refuses every request until an app is installed.
      slack: new CfnSecret(this, 'Slack', {
        name: 'unit-guard/slack',
        description: 'What Slack and Unit Guard share: {"signingSecret":"…","botToken":"…","webhookUrl":"…"}',
        generateSecretString: { ...generated, secretStringTemplate: '{}', generateStringKey: 'signingSecret' },
      }),
      // Empty until an operator enters it. A public client has none.
      ...(login && {
        'login-client': new CfnSecret(this, 'LoginClient', {
          name: 'unit-guard/login-client',
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
      fn.set(settingOf[name], arn)
      fn.allow(['secretsmanager:GetSecretValue'], [arn])
    }
  }
}
