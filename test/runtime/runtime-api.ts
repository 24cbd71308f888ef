import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'

/** The function's answer to one event, as Lambda receives it. */
export interface Invocation {
  readonly status: number | undefined
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** The runtime reports an answer that broke off in the trailers of its request. */
  readonly errorType: string | undefined
}

/** Ends the head of a streamed answer. */
const headEnd = Buffer.alloc(8)

/** @see https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html */
async function startRuntimeApi() {
  const events: object[] = []
  const waiting: ServerResponse[] = []
  const answered = new Map<string, (invocation: Invocation) => void>()
  let invocations = 0

  function handOut(): void {
    while (events.length > 0 && waiting.length > 0) {
      const response = waiting.shift()
      response?.writeHead(200, {
        'lambda-runtime-aws-request-id': `invocation-${++invocations}`,
        'lambda-runtime-deadline-ms': String(Date.now() + 60_000),
        'lambda-runtime-invoked-function-arn': 'arn:aws:lambda:eu-central-1:123456789012:function:test',
      })
      response?.end(JSON.stringify(events.shift()))
    }
  }

  const server = createServer(async (request, response) => {
    if (request.url?.endsWith('/invocation/next')) {
      waiting.push(response)
      return handOut()
    }
    const body = await buffer(request)
    response.writeHead(202, { 'content-type': 'application/json' }).end('{"status":"OK"}')
    answered.get(request.url?.split('/').at(-2) ?? '')?.(invocationOf(request, body))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')

  return {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    invoke: (event: object): Promise<Invocation> => {
      const id = `invocation-${invocations + events.length + 1}`
      const answer = new Promise<Invocation>((resolve) => answered.set(id, resolve))
      events.push(event)
      handOut()
      return answer
    },
    stop: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Lambda's runtime API on a real socket, and a process of its runtime client that runs one function on Node 24. */
export async function startRuntime(options: { folder: string; environment: Record<string, string> }) {
  const api = await startRuntimeApi()
  const { node, client, preload } = installed()
  const child = spawn(node, ['--require', preload, client], {
    env: {
      ...options.environment,
      ...lambdaEnvironment,
      AWS_LAMBDA_RUNTIME_API: api.host,
      LAMBDA_TASK_ROOT: options.folder,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      output += chunk
    })
  const ended = new Promise<string>((resolve) => {
    child.once('exit', (code, signal) => resolve(`Runtime.ExitError: exit status ${code ?? signal}\n${output}`))
  })

  return {
    /** @throws Error `Runtime.ExitError` when the process ends instead, in Lambda's words. */
    invoke: (event: object): Promise<Invocation> => {
      const exited = ended.then((how) => {
        throw new Error(how)
      })
      return Promise.race([api.invoke(event), exited])
    },
    processId: child.pid,
    output: () => output,
    stop: async () => {
      child.kill()
      await ended
      await api.stop()
    },
  }
}

const lambdaEnvironment = {
  AWS_LAMBDA_NODEJS_USE_ALTERNATIVE_CLIENT_1: 'true',
  _HANDLER: 'index.handler',
  AWS_LAMBDA_FUNCTION_NAME: 'unit-guard',
  AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
  AWS_LAMBDA_FUNCTION_MEMORY_SIZE: '512',
  AWS_LAMBDA_LOG_GROUP_NAME: 'unit-guard',
  AWS_LAMBDA_LOG_STREAM_NAME: 'test',
  AWS_REGION: 'eu-central-1',
  AWS_ACCESS_KEY_ID: 'test',
  AWS_SECRET_ACCESS_KEY: 'test',
}

const installed = () => ({
  node: join(import.meta.dirname, 'node_modules', `node-linux-${process.arch}`, 'bin', 'node'),
  client: join(import.meta.dirname, 'node_modules', 'aws-lambda-ric', 'index.mjs'),
  preload: join(import.meta.dirname, 'no-native-client.cjs'),
})

function invocationOf({ url, trailers }: IncomingMessage, body: Buffer): Invocation {
  const errorType = trailers['lambda-runtime-function-error-type']
  const end = body.indexOf(headEnd)
  const isStreamed = url?.endsWith('/response') && end >= 0
  const head = isStreamed ? JSON.parse(body.subarray(0, end).toString()) : {}
  return {
    status: head.statusCode,
    headers: head.headers ?? {},
    body: isStreamed ? body.subarray(end + headEnd.length).toString() : body.toString(),
    errorType: typeof errorType === 'string' ? errorType : undefined,
  }
}
