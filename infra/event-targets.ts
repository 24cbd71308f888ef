import type { IKey } from 'aws-cdk-lib/aws-kms'
import { CfnSecret } from 'aws-cdk-lib/aws-secretsmanager'
import { RemovalPolicy } from 'aws-cdk-lib/core'
import { Construct } from 'constructs'
import type { Target } from '../shared/events/targets-file.ts'
import { acknowledge, type GuardFunction } from './guard-function.ts'
import { arnOfExisting } from './guard-secrets.ts'

interface EventTargetsProps {
  readonly targets: readonly Target[]
  /** An earlier stack has left the secrets. */
  readonly existing: boolean
  readonly key: IKey | undefined
}

/** Makes the secrets of event targets, and lets functions sign with them. */
export class EventTargets extends Construct {
  /** The ARNs. */
  private readonly secrets: readonly string[]

  constructor(scope: Construct, id: string, { targets, existing, key }: EventTargetsProps) {
    super(scope, id)
    // Targets may share a secret.
    const names = new Set(targets.map(({ secret }) => secret))
    this.secrets = [...names].map((name) => (existing ? arnOfExisting(this, name) : this.generate(name, key).ref))
    if (names.size > 0 && !existing)
      acknowledge(this, {
        'AwsSolutions-SMG4': 'The receiver needs each new value, so a person rotates it (docs/deploy.md)',
      })
  }

  /** Letters and digits are valid base64, so the value is a key of 48 bytes. The operator gives it to the receiver. */
  private generate(name: string, key: IKey | undefined): CfnSecret {
    const secret = new CfnSecret(this, name.replace(/^.*\//, 'Secret-'), {
      name,
      ...(key && { kmsKeyId: key.keyArn }),
      description: 'Signs events for another system: {"current":"whsec_…","previous":"whsec_…"}',
      generateSecretString: {
        passwordLength: 64,
        excludePunctuation: true,
        secretStringTemplate: '{}',
        generateStringKey: 'current',
      },
    })
    secret.applyRemovalPolicy(RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE)
    return secret
  }

  bindTo(fn: GuardFunction): void {
    // The targets file names each secret, so no setting does.
    if (this.secrets.length > 0) fn.allow(['secretsmanager:GetSecretValue'], this.secrets)
  }
}
