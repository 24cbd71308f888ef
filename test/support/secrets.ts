import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A stand-in for Secrets Manager over real sockets, with values that a test may change. */
export async function startTestSecrets(values: Record<string, string | undefined>) {
  const asked: string[] = []
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    const { SecretId, VersionStage } = JSON.parse(body)
    asked.push(`${SecretId} ${VersionStage}`)
    const value = values[VersionStage === 'AWSPREVIOUS' ? `${SecretId} previous` : SecretId]
    response.setHeader('content-type', 'application/x-amz-json-1.1')
    if (value === undefined) {
      response.statusCode = 400
      return response.end(JSON.stringify({ __type: 'ResourceNotFoundException', message: 'no such secret' }))
    }
    response.end(JSON.stringify({ Name: SecretId, SecretString: value, VersionStages: [VersionStage] }))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    values,
    asked,
    close: async () => {
      server.closeAllConnections()
      server.close()
    },
  }
}
