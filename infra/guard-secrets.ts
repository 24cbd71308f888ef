import { CfnSecret } from 'aws-cdk-lib/aws-secretsmanager'
import { RemovalPolicy } from 'aws-cdk-lib/core'
import { Construct } from 'constructs'
import { acknowledge, type GuardFunction } from './guard-function.ts'

export type SecretName = 'service-token' | 'caller-key' | 'slack'

const keyLength = 64

/** The setting that names each to a function. */
const settings: Readonly<Record<SecretName, string>> = {
  'service-token': 'SERVICE_TOKEN_SECRET',
  'caller-key': 'CALLER_KEY_SECRET',
  slack: 'SLACK_SECRET',
}

/** What must be known to few: each function reads the secrets that it was given, and no other. */
export class GuardSecrets extends Construct {
  private readonly secrets: Readonly<Record<SecretName, CfnSecret>>

  constructor(scope: Construct, id: string) {
    super(scope, id)
    // Visible ASCII without quotes and backslashes, so that it can be passed on by hand without escaping.
    const generated = { passwordLength: keyLength, excludePunctuation: true }
    this.secrets = {
      // It has no value until an operator enters the service's token: until then updates are answered 503. A generated
      // one, which the construct of a higher level insists on, would be sent to the service as if it were real.
      'service-token': new CfnSecret(this, 'ServiceToken', {
        name: 'unit-guard/service-token',
        description: "The tracking service's token; only Unit Guard holds it",
      }),
      'caller-key': new CfnSecret(this, 'CallerKey', {
        name: 'unit-guard/caller-key',
        description: "The key that callers' tokens are signed with (HS256)",
        generateSecretString: generated,
      }),
      // Until an app is installed no one knows the signing secret, and without a webhook announcements are only logged.
      slack: new CfnSecret(this, 'Slack', {
        name: 'unit-guard/slack',
        description: 'What Slack and Unit Guard share: {"signingSecret":"…","webhookUrl":"…"}',
        generateSecretString: { ...generated, secretStringTemplate: '{}', generateStringKey: 'signingSecret' },
      }),
    }
    // Kept whatever happens, but for a first deployment that fails: its second try needs the names.
    for (const secret of Object.values(this.secrets))
      secret.applyRemovalPolicy(RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE)
    acknowledge(this, {
      'AwsSolutions-SMG4':
        'The service and Slack issue theirs by hand; the caller key is rotated by a person, because every token ends with it. docs/deploy.md says how, without a failed update',
    })
  }

  /** Lets a function read these, and tells it where they are. */
  bindTo(fn: GuardFunction, ...names: readonly SecretName[]): void {
    for (const name of names) {
      const arn = this.secrets[name].ref
      fn.set(settings[name], arn)
      fn.allow(['secretsmanager:GetSecretValue'], [arn])
    }
  }
}
