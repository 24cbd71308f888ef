import { CfnParameter as StoredParameter } from 'aws-cdk-lib/aws-ssm'
import { CfnParameter, RemovalPolicy } from 'aws-cdk-lib/core'
import type { Construct } from 'constructs'
import { ledgerParameter, noMarker } from '../shared/platform/marker.ts'

/**
 * What is known about the ledger outside of its table, as the environment of the functions carries it. CloudFormation reads the
 * parameter at each deployment, and fails without it. Only the first deployment makes it, which fails where it is there.
 */
export function ledgerMarker(scope: Construct, isFirst: boolean): string {
  if (!isFirst) {
    const type = 'AWS::SSM::Parameter::Value<String>'
    const description = 'Where the marker of the ledger is; npm run account -- begin writes it'
    return new CfnParameter(scope, 'LedgerMarker', { type, default: ledgerParameter, description }).valueAsString
  }
  const made = new StoredParameter(scope, 'LedgerParameter', {
    name: ledgerParameter,
    type: 'String',
    value: noMarker,
    description: 'Which ledger Unit Guard keeps, and in which table; npm run account and npm run restore write it',
  })
  made.applyRemovalPolicy(RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE)
  return noMarker
}
