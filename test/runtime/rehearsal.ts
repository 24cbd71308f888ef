import { CreateTableCommand, DescribeTableCommand, type DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { signCallerToken } from '../../infra/local/secrets.ts'
import { accountOf } from '../../shared/ledger/identity.ts'
import { createLedger } from '../../shared/ledger/ledger.ts'
import { createDynamoClient, createDynamoStore } from '../../shared/ledger/store/dynamo-store.ts'
import { systemClock } from '../../shared/platform/clock.ts'
import { systemIds } from '../../shared/platform/ids.ts'
import { openingSettings, parseSettings, toMarkerText } from '../../shared/platform/settings.ts'
import { scopes } from '../../shared/platform/words.ts'
import { dynamodb } from '../support/dynamodb/endpoint.ts'
import type { Synthesized } from '../support/infra/stack.ts'
import { callerKey, serviceToken } from '../support/product.ts'
import { quoteKey } from '../support/quote-key.ts'
import { startTestSecrets } from '../support/secrets.ts'
import { slackSecretOf } from '../support/slack/slack.ts'
import type { ItemLocks } from '../support/store/item-locks.ts'
import { patienceMs } from '../support/store/stores.ts'
import { access } from './iam/accesses.ts'
import { type Aws, startAws } from './iam/aws.ts'
import { createFleet, type Fleet, serveFleet } from './lambda/fleet.ts'
import { account, type Made, readTemplate, region, type TemplateFunction } from './template.ts'

/** Settings of a deployment of the rehearsal, beside the needed ones. */
export const ledgerSettings = {
  ACCOUNT_UNITS_PER_MONTH: '50000',
  ACCOUNT_UNITS_USED_AT_START: '0',
  ACCOUNT_RENEWAL_DAY: '1',
  ACCOUNT_TIME_ZONE: 'UTC',
}

interface Options {
  readonly webhookUrl?: string
  readonly locks?: ItemLocks
  /** Another service than the stand-in of the template. */
  readonly serviceUrl?: string
}

export type Rehearsal = Awaited<ReturnType<typeof startRehearsal>>

/**
 * A synthesized template, deployed on this machine: its assets in Lambda's runtime client, its roles in front of DynamoDB
 * Local, its URLs over HTTP. A role is known by its access key, as on AWS.
 */
export async function startRehearsal(stack: Synthesized, { webhookUrl, locks, serviceUrl }: Options = {}) {
  const closings: (() => unknown)[] = []
  const client = createDynamoClient(await dynamodb(), undefined, patienceMs)
  const tables = await createTables(client, stack)
  const secrets = await startTestSecrets(secretsOf(stack, slackSecretOf(webhookUrl)))
  const ledger = tables.byId.get(stack.ofType('AWS::DynamoDB::Table').find(({ id }) => /^Ledger/.test(id))?.id ?? '')
  if (!ledger) throw new Error('the template has no ledger')
  const aws = await startAws({
    dynamodb: await dynamodb(),
    secrets: secrets.endpoint,
    arns: { table: tables.arnOf, secret: (id) => (id.startsWith('arn:') ? id : secretArn(id)) },
    locks,
  })
  closings.push(secrets.close, aws.close)

  const fronts = new Map<string, string>()
  const parameters = { LedgerMarker: await beginLedger(client, ledger.name) }
  const template = readTemplate(stack, { made: madeWith(tables.byId, fronts), parameters })

  // Addresses are known before functions, because settings name them.
  const fleets = new Map<string, Fleet>()
  const fleetOf = (id: string): Fleet => {
    const fleet = fleets.get(id)
    if (!fleet) throw new Error(`no function ${id}`)
    return fleet
  }
  for (const { id, functionId, streams } of template.urls()) {
    const front = await serveFleet({ invoke: (event) => fleetOf(functionId).invoke(event) }, { streams })
    fronts.set(id, front.host)
    closings.push(front.close)
  }
  const functions = template.functions()
  for (const each of functions) {
    const fleet = fleetFor(each, aws, serviceAt(serviceUrl))
    closings.push(fleet.stop)
    fleets.set(each.id, fleet)
  }

  const named = (name: string): Fleet => {
    const found = functions.find((each) => each.name === name)
    if (!found) throw new Error(`the template has no function ${name}`)
    return fleetOf(found.id)
  }
  const urlOf = (name: string) => {
    const url = template.urls().find(({ functionId }) => fleetOf(functionId) === named(name))
    return `http://${fronts.get(url?.id ?? '')}`
  }
  return {
    aws,
    template,
    secrets,
    ledger,
    client,
    fleetOf,
    urlOf,
    fleet: named,
    fleets: () => [...fleets.values()],
    call: callerOf(urlOf('Api')),
    close: async () => {
      for (const close of closings.toReversed()) await close()
      client.destroy()
    },
  }
}

/** The values in place of the resources of the template. */
const madeWith =
  (tables: Tables['byId'], fronts: ReadonlyMap<string, string>): Made =>
  ({ id, Type, Properties }, attribute) => {
    const table = tables.get(id)
    if (table) return attribute === undefined ? table.name : attribute === 'Arn' ? table.arn : table.stream
    switch (Type) {
      case 'AWS::Lambda::Url':
        return `http://${fronts.get(id)}/`
      case 'AWS::SecretsManager::Secret':
        return secretArn(Properties.Name)
      case 'AWS::SQS::Queue':
        return arn('sqs', id)
      default:
        return arn(Type, id)
    }
  }

/** Runs with the role of the function, which also writes its log. */
function fleetFor(of: TemplateFunction, aws: Aws, service: Record<string, string>): Fleet {
  const { name, statements, log } = of
  const accessKey = accessKeyOf(name)
  aws.admit({ name, accessKey, statements })
  const started = () => aws.use(accessKey, ...logActions.map((action) => access(action, log)))
  return createFleet({ ...of, environment: { ...environmentOf(of, aws.endpoint), ...service } }, { started })
}

const logActions = ['logs:CreateLogStream', 'logs:PutLogEvents']

const arn = (service: string, name: string) => `arn:aws:${service}:${region}:${account}:${name}`
const secretArn = (name: string) => arn('secretsmanager', `secret:${name}-AbCdEf`)

/** Access keys of AWS have only letters and digits. */
export const accessKeyOf = (functionName: string) => `AKIA${functionName}`

const serviceAt = (url: string | undefined): Record<string, string> =>
  url === undefined ? {} : { TRACKING_BASE_URL: url }

/**
 * The settings that Lambda adds, and the address of AWS. Only the address of the secrets is our setting: with it, Slack may be on this
 * machine.
 */
const environmentOf = ({ name, environment }: TemplateFunction, endpoint: string) => ({
  ...environment,
  AWS_ENDPOINT_URL: endpoint,
  AWS_REGION: region,
  AWS_ACCESS_KEY_ID: accessKeyOf(name),
  AWS_SECRET_ACCESS_KEY: 'secret',
  SECRETS_ENDPOINT: endpoint,
  SECRETS_ACCESS_KEY: accessKeyOf(name),
})

const targetKey = 'c2lnbmF0dXJlIG9mIGV2ZW50cyBmb3IgYSB0YXJnZXQ'

const values: Readonly<Record<string, string>> = {
  'unit-guard/service-token': serviceToken,
  'unit-guard/caller-key': callerKey,
  'unit-guard/quote-key': quoteKey,
}

/** The file of event targets names its secrets; the other settings are ARNs. */
const secretsOf = ({ ofType }: Synthesized, slack: string) =>
  Object.fromEntries(
    ofType('AWS::SecretsManager::Secret').map(({ Properties: { Name } }) => [
      Name in values || Name === 'unit-guard/slack' ? secretArn(Name) : Name,
      Name === 'unit-guard/slack' ? slack : (values[Name] ?? JSON.stringify({ current: targetKey })),
    ]),
  )

type Tables = Awaited<ReturnType<typeof createTables>>

/** Creates the tables as the template describes them. */
async function createTables(client: DynamoDBClient, { ofType }: Synthesized) {
  const byId = new Map<string, { name: string; arn: string; stream: string }>()
  for (const { id, Properties } of ofType('AWS::DynamoDB::Table')) {
    const { KeySchema, AttributeDefinitions, GlobalSecondaryIndexes, BillingMode, StreamSpecification } = Properties
    const name = `${id}-${systemIds.random()}`
    const TableName = name
    await client.send(
      new CreateTableCommand({
        TableName,
        KeySchema,
        AttributeDefinitions,
        GlobalSecondaryIndexes,
        BillingMode,
        ...(StreamSpecification && { StreamSpecification: { StreamEnabled: true, ...StreamSpecification } }),
      }),
    )
    const { Table } = await client.send(new DescribeTableCommand({ TableName }))
    byId.set(id, { name, arn: Table?.TableArn ?? '', stream: Table?.LatestStreamArn ?? '' })
  }
  return {
    byId,
    arnOf: (name: string) => [...byId.values()].find((table) => table.name === name)?.arn ?? `no table ${name}`,
  }
}

/** Begins a ledger as `npm run account -- begin` does. @returns the marker for the next deployment. */
async function beginLedger(client: DynamoDBClient, table: string): Promise<string> {
  const store = createDynamoStore({ client, table, clock: systemClock, ids: systemIds })
  const set = parseSettings(openingSettings, ledgerSettings)
  const expected = { service: 'sandbox', account: set }
  const { definitions } = await createLedger({ store, clock: systemClock, account: accountOf(set), expected }).view()
  const { ledger = '', epoch = 0, table: id = '' } = definitions.identity ?? {}
  return toMarkerText({ ledger, epoch, table: id, tableName: table })
}

export const tokenFor = (sub: string): Promise<string> =>
  signCallerToken({ key: callerKey, sub, scopes, budgets: '*', now: Date.now(), lastsMs: 3_600_000 })

/** Calls over HTTP, with a token of `sub`. */
const callerOf =
  (url: string) =>
  async (
    method: string,
    path: string,
    { body, sub = 'ada', headers = {} }: { body?: object; sub?: string; headers?: Record<string, string> } = {},
  ) => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${await tokenFor(sub)}`,
        ...(body && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    const isJson = /json/.test(response.headers.get('content-type') ?? '')
    // biome-ignore lint/suspicious/noExplicitAny: callers look into answers without knowing our types.
    return { status: response.status, body: (isJson ? JSON.parse(text) : text) as any }
  }
