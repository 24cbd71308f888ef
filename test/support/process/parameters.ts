import { once } from 'node:events'
import { createServer, type IncomingMessage, request } from 'node:http'
import type { AddressInfo } from 'node:net'

/** The parameters of the Systems Manager: GetParameter and PutParameter, without a check of the signature. */
export async function startParameters(values: Record<string, string> = {}) {
  const server = createServer(async (incoming, response) => {
    const { Name, Value } = JSON.parse(await bodyOf(incoming))
    const isPut = incoming.headers['x-amz-target'] === 'AmazonSSM.PutParameter'
    if (isPut) values[Name] = Value
    const isThere = Object.hasOwn(values, Name)
    const found = isPut ? { Version: 1 } : { Parameter: { Name, Value: values[Name] } }
    response.writeHead(isThere ? 200 : 400, { 'content-type': 'application/x-amz-json-1.1' })
    response.end(JSON.stringify(isThere ? found : { __type: 'ParameterNotFound' }))
  })
  return { values, ...(await listening(server)) }
}

/** Passes requests on to a database. @param passed is called before the answer is given. */
export async function startProxy(to: string, passed: (operation: string) => void) {
  const server = createServer(async (incoming, response) => {
    const body = await bodyOf(incoming)
    const { method, headers } = incoming
    const onward = request(to, { method, headers }, (answer) => {
      passed(String(headers['x-amz-target']).split('.')[1] ?? '')
      response.writeHead(answer.statusCode ?? 500, answer.headers)
      answer.pipe(response)
    })
    onward.end(body)
  })
  return listening(server)
}

async function listening(server: ReturnType<typeof createServer>) {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

async function bodyOf(incoming: IncomingMessage): Promise<string> {
  let body = ''
  for await (const chunk of incoming) body += chunk
  return body
}
