import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type ServerOptions } from 'node:https'
import { createServer as createTcpServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TLSSocket } from 'node:tls'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'

const run = promisify(execFile)

interface Certificate {
  readonly file: string
  readonly key: Buffer
  readonly cert: Buffer
}

/** The service's fault on a connection, or on a request. */
interface Fault {
  readonly tls?: ServerOptions
  readonly onSecure?: (socket: TLSSocket) => void
  readonly onConnection?: (socket: Socket) => void
  readonly onRequest?: (request: IncomingMessage, response: ServerResponse) => void
  /** The number of requests that must arrive for the case to be valid. */
  readonly requests?: number
}

const half = (response: ServerResponse) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' })
  response.write('{"keyword_units": 5')
}
/** Connections by the client's port, because only the layer below TLS can reset. */
const connections = new Map<number | undefined, Socket>()
const reset = ({ remotePort }: Socket) => connections.get(remotePort)?.resetAndDestroy()
const soon = (act: () => void) => setTimeout(act, 20)

let folder: string
let trusted: Certificate
let stranger: Certificate
const servers: Server[] = []
const seen: { requests: number }[] = []
let results: { kind: string; reason?: string }[]

/** Each case with its allowed outcome: only a failure before the end of the handshake proves that nothing was sent. */
const cases: readonly [name: string, fault: () => Fault, kind: string, reason?: string][] = [
  ['a whole answer', () => ({ requests: 1, onRequest: (_request, response) => response.end('{}') }), 'ran'],
  [
    'a reset after the request',
    () => ({ requests: 1, onRequest: ({ socket }) => reset(socket) }),
    'unknown',
    'connection reset',
  ],
  [
    'a close after the request',
    () => ({ requests: 1, onRequest: ({ socket }) => socket.destroy() }),
    'unknown',
    'connection reset',
  ],
  [
    'half a body, then a close',
    () => ({
      requests: 1,
      onRequest: ({ socket }, response) => {
        half(response)
        soon(() => socket.destroy())
      },
    }),
    'unknown',
  ],
  [
    'half a body, then a reset',
    () => ({
      requests: 1,
      onRequest: ({ socket }, response) => {
        half(response)
        soon(() => reset(socket))
      },
    }),
    'unknown',
  ],
  ['a close right after the handshake', () => ({ onSecure: (socket) => socket.destroy() }), 'unknown'],
  ['a reset right after the handshake', () => ({ onSecure: reset }), 'unknown'],
  [
    // In TLS 1.3 the client believes that the handshake is over before it is refused, so the request may be on its way.
    'a client certificate that is missing, with TLS 1.3',
    () => ({ requests: 0, tls: { requestCert: true, rejectUnauthorized: true, minVersion: 'TLSv1.3' } }),
    'unknown',
  ],
  [
    'a client certificate that is missing, with TLS 1.2',
    () => ({ requests: 0, tls: { requestCert: true, rejectUnauthorized: true, maxVersion: 'TLSv1.2' } }),
    'did-not-run',
    'TLS refused',
  ],
  [
    'a version of TLS that the client does not speak',
    () => ({ requests: 0, tls: { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } }),
    'did-not-run',
    'TLS refused',
  ],
  [
    'a certificate of an unknown authority',
    () => ({ requests: 0, tls: { key: stranger.key, cert: stranger.cert } }),
    'did-not-run',
    'TLS refused',
  ],
  [
    'a close instead of a handshake',
    () => ({ requests: 0, onConnection: (socket) => socket.destroy() }),
    'did-not-run',
    'TLS refused',
  ],
  [
    'a reset instead of a handshake',
    () => ({ requests: 0, onConnection: (socket) => socket.resetAndDestroy() }),
    'did-not-run',
  ],
  [
    'HTTP where TLS is due',
    () => ({ requests: 0, onConnection: (socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n') }),
    'did-not-run',
    'TLS refused',
  ],
]

/** A new self-signed certificate for this machine, which is deleted with its folder. */
async function certify(name: string): Promise<Certificate> {
  const [key, file] = [join(folder, `${name}.key`), join(folder, `${name}.pem`)]
  await run('openssl', [
    'req',
    '-x509',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:prime256v1',
    '-nodes',
    '-days',
    '2',
    '-keyout',
    key,
    '-out',
    file,
    '-subj',
    `/CN=${name}`,
    '-addext',
    'subjectAltName=IP:127.0.0.1',
  ])
  return { file, key: await readFile(key), cert: await readFile(file) }
}

async function listen({ tls, onConnection, onSecure, onRequest }: Fault, count: { requests: number }): Promise<string> {
  const server: Server = onConnection
    ? createTcpServer(onConnection)
    : createServer({ key: trusted.key, cert: trusted.cert, ...tls }, (request, response) => {
        count.requests++
        onRequest?.(request, response)
      })
  if (onSecure) server.on('secureConnection', onSecure)
  server.on('connection', (socket) => {
    connections.set(socket.remotePort, socket)
    socket.on('error', () => {})
  })
  server.on('secureConnection', (socket) => socket.on('error', () => {}))
  server.on('tlsClientError', () => {})
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return `https://127.0.0.1:${address.port}/v3`
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'unit-guard-'))
  trusted = await certify('trusted')
  stranger = await certify('stranger')
  const addresses: string[] = []
  for (const [, fault] of cases) {
    const count = { requests: 0 }
    seen.push(count)
    addresses.push(await listen(fault(), count))
  }
  const args = ['--import', 'tsx', 'test/support/process/tls-run.ts', ...addresses]
  const { stdout } = await run(process.execPath, args, { env: { ...process.env, NODE_EXTRA_CA_CERTS: trusted.file } })
  results = JSON.parse(stdout)
})

afterAll(async () => {
  for (const server of servers) server.close()
  await rm(folder, { recursive: true })
})

test.each(cases.map(([name, fault, kind, reason], index) => ({ name, fault, kind, reason, index })))(
  'https: $name is $kind',
  ({ fault, kind, reason, index }) => {
    expect(results[index]).toMatchObject({ kind, ...(reason !== undefined && { reason }) })
    const { requests } = fault()
    if (requests !== undefined) expect(seen[index]?.requests).toBe(requests)
  },
)
