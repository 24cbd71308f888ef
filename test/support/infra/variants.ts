import { ManagedPolicy } from 'aws-cdk-lib/aws-iam'
import { Key } from 'aws-cdk-lib/aws-kms'
import { RetentionDays } from 'aws-cdk-lib/aws-logs'
import { Topic } from 'aws-cdk-lib/aws-sns'
import { RemovalPolicy, type Stack } from 'aws-cdk-lib/core'
import type { EdgeOptions, SettingProps, UnitGuardProps } from '../../../infra/props.ts'
import { behindEdge, everyOption, firstDeployment, login, okta, warehouse } from './deployment.ts'
import type { Synthesis } from './stack.ts'

/** Props of options and settings. The compiler refuses the file if any other prop is not below. */
type GivenProps =
  | keyof SettingProps
  | keyof EdgeOptions
  | ('prefix' | 'bundles' | 'sandbox' | 'firstLedger' | 'restored' | 'reserveConcurrency')
  | ('without' | 'alarmEmail' | 'awsBudget' | 'maxTableReads' | 'maxTableWrites' | 'openUrls' | 'existingSecrets')

const ownProps = (own: Stack): Required<Omit<UnitGuardProps, GivenProps>> => {
  const encryptionKey = new Key(own, 'Key', { enableKeyRotation: true })
  return {
    encryptionKey,
    alarmTopic: new Topic(own, 'Alarms', { masterKey: encryptionKey, enforceSSL: true }),
    logRetention: RetentionDays.ONE_YEAR,
    permissionsBoundary: ManagedPolicy.fromManagedPolicyArn(own, 'Boundary', 'arn:aws:iam::123456789012:policy/bound'),
    removalPolicy: RemovalPolicy.DESTROY,
  }
}

const { alarmEmail: _mail, awsBudget, ...untold } = everyOption.context

/** The deployments whose templates are checked, by cdk-nag in a test and by cfn-lint in the gate. Together they use every option. */
export const variants = {
  usual: {},
  everyOption,
  firstDeployment,
  everyProp: {
    ...everyOption,
    context: untold,
    own: (own: Stack) => ({ ...ownProps(own), awsBudget: Number(awsBudget) }),
  },
  standIn: { env: { TRACKING_BASE_URL: '' }, context: { sandbox: 'true', alarmEmail: 'ops@example.com' } },
  restored: {
    context: {
      ledgerTable: 'restored',
      ledgerStream: 'arn:aws:dynamodb:eu-central-1:123456789012:table/restored/stream/2026-11-20T10:00:00.000',
    },
  },
  /** A new stack beside the table and the secrets of a deleted one. */
  redeployed: {
    issuers: [okta],
    targets: [warehouse],
    env: login,
    context: {
      secrets: 'existing',
      ledgerTable: 'kept',
      ledgerStream: 'arn:aws:dynamodb:eu-central-1:123456789012:table/kept/stream/2026-11-20T10:00:00.000',
    },
  },
  second: { env: { GUARD_PREFIX: 'unit-guard-two' }, context: { without: 'domain,awsBudget,reserve' } },
  issuers: {
    issuers: [okta],
    targets: [warehouse],
    env: { ...login, MINTED_TOKENS: 'off', PUBLIC_URL: 'https://agents.example' },
  },
  edgeInOneRegion: { context: { ...behindEdge, openUrls: 'true' }, region: 'us-east-1' },
  givenCertificate: {
    context: {
      domain: 'guard.example.com',
      originVersion: 'a'.repeat(32),
      edgeRequests: '500',
      certificate: 'arn:aws:acm:us-east-1:123456789012:certificate/0f2a1c9e-1111-4222-8333-444455556666',
    },
  },
} as const satisfies Readonly<Record<string, Synthesis>>
