import { once } from 'node:events'
import http, { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { type ItemLocks, keyNamesOf } from '../../support/store/item-locks.ts'
import { type Arns, accessesOf } from './accesses.ts'
import { type Access, isAllowed, type Statement } from './policy.ts'

export interface Role {
  readonly name: string
  /** The key distinguishes requests of different roles. */
  readonly accessKey: string
  readonly statements: readonly Statement[]
}

interface Decision extends Access {
  readonly role: string
  readonly isAllowed: boolean
}

interface Behind {
  readonly dynamodb: string
  readonly secrets: string
  readonly arns: Arns
  /** Cancels transactions that meet at an item. DynamoDB does this, and DynamoDB Local never does. */
  readonly locks?: ItemLocks | undefined
}

/**
 * The services of AWS at one address, with IAM in front. A statement of the role that signed a request must allow it. Behind IAM are
 * DynamoDB Local and a stand-in for Secrets Manager; a queue keeps what it receives.
 */
export async function startAws(behind: Behind) {
  const roles = new Map<string, Role>()
  const decisions: Decision[] = []
  const queued: object[] = []
  const agent = new http.Agent({ keepAlive: true })

  const server = createServer(async (request, response) => {
    const body = await buffer(request).catch(() => null)
    if (body === null) return
    const target = String(request.headers['x-amz-target'])
    const parsed = JSON.parse(body.toString())
    const denied = decide(accessKeyOf(request), accessesOf(target, parsed, behind.arns))
    if (denied !== null) return refuse(response, 'AccessDeniedException', { Message: denied, message: denied })
    if (target.startsWith('AmazonSQS')) return answer(response, { MessageId: `message-${queued.push(parsed)}` })
    const to = target.startsWith('secretsmanager') ? behind.secrets : behind.dynamodb
    const send = () => forward({ request, body, to, agent })
    const { locks } = behind
    if (!locks || !target.endsWith('.TransactWriteItems')) return pass(await send(), response)
    let found: Passed | undefined
    const conflicts = await locks.hold(keyNamesOf(parsed), async () => {
      found = await send()
    })
    if (found) return pass(found, response)
    const CancellationReasons = conflicts?.map((Code) => ({ Code }))
    const Message = `Transaction cancelled, please refer cancellation reasons for specific reasons [${conflicts}]`
    refuse(response, 'TransactionCanceledException', { Message, CancellationReasons })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')

  function decide(accessKey: string, accesses: readonly Access[]): string | null {
    const { name: role = 'no one', statements = [] } = roles.get(accessKey) ?? {}
    const made = accesses.map((access) => ({ ...access, role, isAllowed: isAllowed(statements, access) }))
    decisions.push(...made)
    const denied = made.find(({ isAllowed }) => !isAllowed)
    if (!denied) return null
    const { action, resource } = denied
    return `User: ${role} is not authorized to perform: ${action} on resource: ${resource} because no identity-based policy allows the ${action} action`
  }

  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    decisions,
    denials: () => decisions.filter(({ isAllowed }) => !isAllowed),
    queued,
    admit: (role: Role) => void roles.set(role.accessKey, role),
    /** Uses of a role by Lambda itself, such as writing its log. @throws if it is not allowed. */
    use(accessKey: string, ...accesses: readonly Access[]): void {
      const denied = decide(accessKey, accesses)
      if (denied !== null) throw new Error(denied)
    },
    /** The other side of a frozen process does this after a while. */
    dropIdleConnections: () => server.closeIdleConnections(),
    close: async () => {
      server.closeAllConnections()
      server.close()
      agent.destroy()
    },
  }
}

export type Aws = Awaited<ReturnType<typeof startAws>>

const credential = /Credential=([^/]+)\/(\d+)\/([^/]+)/

const accessKeyOf = ({ headers }: IncomingMessage): string => credential.exec(headers.authorization ?? '')?.[1] ?? ''

const json = 'application/x-amz-json-1.0'

function answer(response: ServerResponse, body: object): void {
  response.writeHead(200, { 'content-type': json }).end(JSON.stringify(body))
}

function refuse(response: ServerResponse, name: string, body: object): void {
  response.writeHead(400, { 'content-type': json })
  response.end(JSON.stringify({ __type: `com.amazon.coral.service#${name}`, ...body }))
}

interface Passed {
  readonly answer: IncomingMessage
  readonly body: Buffer
}

function pass({ answer: { statusCode = 500, headers }, body }: Passed, response: ServerResponse): void {
  response.writeHead(statusCode, headers).end(body)
}

/** DynamoDB Local has one database for each access key and region, and tests use that of `local`. */
async function forward(passed: {
  request: IncomingMessage
  body: Buffer
  to: string
  agent: http.Agent
}): Promise<Passed> {
  const { request, body, to, agent } = passed
  const authorization = request.headers.authorization?.replace(credential, 'Credential=local/$2/local')
  const headers = { ...request.headers, host: new URL(to).host, ...(authorization && { authorization }) }
  const sent = http.request(to, { method: 'POST', headers, agent })
  sent.end(body)
  const [answer] = (await once(sent, 'response')) as [IncomingMessage]
  return { answer, body: await buffer(answer) }
}
