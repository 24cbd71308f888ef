import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

interface Call {
  /** Such as `dynamodb CreateTable` or `iam CreateRole`. */
  readonly name: string
  // biome-ignore lint/suspicious/noExplicitAny: requests are JSON or forms of any shape.
  readonly body: any
}

/** The code of AWS's error for a call, or nothing if the call is answered. */
type Refusal = (call: Call) => string | undefined

const json: Readonly<Record<string, object>> = {
  'dynamodb DescribeTable': { Table: { TableStatus: 'ACTIVE' } },
}

const xml: Readonly<Record<string, string>> = {
  'sts GetCallerIdentity':
    '<Account>123456789012</Account><Arn>arn:aws:sts::123456789012:assumed-role/admin/me</Arn><UserId>A</UserId>',
  'sts AssumeRole':
    '<Credentials><AccessKeyId>ASIAROLE</AccessKeyId><SecretAccessKey>s</SecretAccessKey><SessionToken>t</SessionToken><Expiration>2099-01-01T00:00:00Z</Expiration></Credentials>',
  'cloudformation ListStackResources': `<StackResourceSummaries>${[
    ['AWS::DynamoDB::Table', 'LedgerTable-1'],
    ['AWS::DynamoDB::Table', 'SandboxTable-1'],
    ['AWS::Logs::LogGroup', 'Log-1'],
    ['AWS::SQS::Queue', 'https://sqs.example/queue'],
  ]
    .map(
      ([type, id]) =>
        `<member><LogicalResourceId>L</LogicalResourceId><ResourceType>${type}</ResourceType><PhysicalResourceId>${id}</PhysicalResourceId><ResourceStatus>DELETE_SKIPPED</ResourceStatus><LastUpdatedTimestamp>2026-11-29T00:00:00Z</LastUpdatedTimestamp></member>`,
    )
    .join('')}</StackResourceSummaries>`,
}

const services: Readonly<Record<string, string>> = {
  DynamoDB_20120810: 'dynamodb',
  AmazonSSM: 'ssm',
  AWSEvents: 'events',
  Logs_20140328: 'logs',
}

/** A local AWS that records each call of the SDK, the CLI and the CDK, and refuses what the test names. */
export async function startRecordedAws(refuses: Refusal) {
  const calls: Call[] = []
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += chunk
    const call = read(request.headers, text)
    const refusal = refuses(call)
    calls.push(call)
    response.statusCode = refusal === undefined ? 200 : 400
    const isForm = call.name in xml || /^(iam|sts|cloudformation) /.test(call.name)
    if (isForm) response.end(refusal === undefined ? formAnswer(call.name) : formError(refusal))
    else
      response.end(
        JSON.stringify(refusal === undefined ? (json[call.name] ?? {}) : { __type: refusal, message: 'refused' }),
      )
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { calls, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

function read(headers: Readonly<Record<string, string | string[] | undefined>>, text: string): Call {
  const [target = '', operation = ''] = String(headers['x-amz-target'] ?? '').split('.')
  if (operation !== '') return { name: `${services[target] ?? target} ${operation}`, body: JSON.parse(text) }
  if (headers['content-type'] === 'application/json') return { name: 'cdk', body: JSON.parse(text) }
  const form = Object.fromEntries(new URLSearchParams(text))
  const [, service = ''] = /Credential=[^,]*\/([a-z]+)\/aws4_request/.exec(String(headers.authorization)) ?? []
  return { name: `${service} ${form.Action}`, body: form }
}

function formAnswer(name: string): string {
  const action = name.split(' ')[1]
  return `<${action}Response><${action}Result>${xml[name] ?? ''}</${action}Result></${action}Response>`
}

const formError = (code: string): string =>
  `<ErrorResponse><Error><Type>Sender</Type><Code>${code}</Code><Message>refused</Message></Error></ErrorResponse>`
