import {
  AttributeType,
  BillingMode,
  type CfnTable,
  type ITable,
  ProjectionType,
  StreamViewType,
  Table,
  TableEncryption,
} from 'aws-cdk-lib/aws-dynamodb'
import type { IKey } from 'aws-cdk-lib/aws-kms'
import { CfnParameter as StoredParameter } from 'aws-cdk-lib/aws-ssm'
import { CfnParameter, RemovalPolicy } from 'aws-cdk-lib/core'
import { Construct } from 'constructs'
import { expiryAttribute, indexes, tableKey } from '../shared/ledger/store/stored.ts'
import { ledgerParameterOf } from '../shared/platform/prefix.ts'
import { noMarker } from '../shared/platform/settings.ts'
import { acknowledge, type GuardFunction } from './guard-function.ts'

interface Restored {
  readonly table: string
  readonly stream: string
}

export interface LedgerAccess {
  readonly lists: boolean
  /** Prefixes of the partition keys that the function may write. Default: any item. */
  readonly writes?: Readonly<Partial<Record<WriteAction, readonly string[]>>>
  /** Without `writes`: prefixes of the partition keys that the function may not write. */
  readonly writesNo?: readonly string[]
}

const writeActions = ['ConditionCheckItem', 'PutItem', 'UpdateItem'] as const
type WriteAction = (typeof writeActions)[number]

interface LedgerTableProps {
  /** The first deployment has no stream, so that readers do not see what an operator moves into the table. */
  readonly isFirst: boolean
  readonly restored: Restored | undefined
  readonly key: IKey | undefined
  readonly maxTableReads: number | undefined
  readonly maxTableWrites: number | undefined
}

/** Request units a second. The service's 2,000 calls an hour need far fewer, and DynamoDB would bill up to 40,000. */
const usualReads = 8_000
const usualWrites = 2_000

export class LedgerTable extends Construct {
  readonly table: Table | ITable

  constructor(scope: Construct, id: string, props: LedgerTableProps) {
    super(scope, id)
    this.table = props.restored ? this.adopt(props.restored) : this.create(props)
  }

  private adopt({ table, stream }: Restored): ITable {
    const globalIndexes = Object.keys(indexes)
    return Table.fromTableAttributes(this, 'Restored', { tableName: table, tableStreamArn: stream, globalIndexes })
  }

  private create({ isFirst, key, maxTableReads = usualReads, maxTableWrites = usualWrites }: LedgerTableProps): Table {
    const most = { maxReadRequestUnits: maxTableReads, maxWriteRequestUnits: maxTableWrites }
    const table = new Table(this, 'Table', {
      ...keysOf(tableKey),
      billingMode: BillingMode.PAY_PER_REQUEST,
      ...most,
      ...(!isFirst && { stream: StreamViewType.NEW_IMAGE }),
      timeToLiveAttribute: expiryAttribute,
      ...(key && { encryption: TableEncryption.CUSTOMER_MANAGED, encryptionKey: key }),
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      // No deployment and no deleted stack may remove the ledger.
      deletionProtection: true,
      removalPolicy: RemovalPolicy.RETAIN,
    })
    for (const [indexName, key] of Object.entries(indexes)) {
      table.addGlobalSecondaryIndex({ indexName, ...keysOf(key), projectionType: ProjectionType.KEYS_ONLY, ...most })
    }
    return table
  }

  /** Lets the stack delete the table. */
  unprotect(): void {
    if (this.table instanceof Table) (this.table.node.defaultChild as CfnTable).deletionProtectionEnabled = false
  }

  /** No function may delete or scan. A transaction needs the permission of each of its writes. */
  bindTo(fn: GuardFunction, { lists, writes, writesNo }: LedgerAccess): void {
    const { tableArn, tableName } = this.table
    fn.set('TABLE_NAME', tableName)
    fn.allow(['BatchGetItem', 'DescribeTable'].map(action), [tableArn])
    if (!writes) fn.allow(writeActions.map(action), [tableArn], writesNo && keys('StringNotLike', writesNo))
    for (const [name, prefixes] of Object.entries(writes ?? {}))
      fn.allow([action(name)], [tableArn], keys('StringLike', prefixes))
    if (!lists) return
    const arns = Object.keys(indexes).map((name) => `${tableArn}/index/${name}`)
    fn.allow([action('Query')], arns)
  }

  streamTo(fn: GuardFunction): string {
    const { tableStreamArn } = this.table
    if (tableStreamArn === undefined) throw new Error('the ledger table has no stream')
    this.table.grantStreamRead(fn.lambda)
    acknowledge(fn, {
      'AwsSolutions-IAM5[Resource::*]':
        'Lambda needs dynamodb:ListStreams, which takes no resource and shows only names of streams',
    })
    return tableStreamArn
  }
}

/** `ForAllValues` alone also allows a request without a key. */
const keys = (are: 'StringLike' | 'StringNotLike', prefixes: readonly string[]) => ({
  [`ForAllValues:${are}`]: { 'dynamodb:LeadingKeys': prefixes.map((prefix) => `${prefix}*`) },
  Null: { 'dynamodb:LeadingKeys': 'false' },
})

const action = (name: string): string => `dynamodb:${name}`

const keysOf = ({ partition, sort }: Readonly<Record<keyof typeof tableKey, string>>) => ({
  partitionKey: { name: partition, type: AttributeType.STRING },
  sortKey: { name: sort, type: AttributeType.STRING },
})

/** The first deployment creates the marker and fails if it exists; later ones read it and fail if it is missing. */
export function ledgerMarker(scope: Construct, { prefix, isFirst }: { prefix: string; isFirst: boolean }): string {
  const name = ledgerParameterOf(prefix)
  if (!isFirst) {
    const type = 'AWS::SSM::Parameter::Value<String>'
    const description = 'The parameter with the marker of the ledger; npm run account -- begin writes it'
    return new CfnParameter(scope, 'LedgerMarker', { type, default: name, description }).valueAsString
  }
  const made = new StoredParameter(scope, 'LedgerParameter', {
    name,
    type: 'String',
    value: noMarker,
    description: 'The ledger of Unit Guard and its table; npm run account and npm run restore write it',
  })
  made.applyRemovalPolicy(RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE)
  return noMarker
}
