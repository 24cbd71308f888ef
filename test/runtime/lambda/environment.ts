import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { type FunctionAnswer, startRuntimeApi } from './runtime-api.ts'

export interface FunctionSpec {
  readonly name: string
  /** Its code, which is also its working directory. */
  readonly folder: string
  readonly handler?: string
  readonly timeoutMs?: number
  readonly memoryMb?: number
  readonly environment: Readonly<Record<string, string>>
}

export type Environment = Awaited<ReturnType<typeof startEnvironment>>

/**
 * An execution environment: Lambda's runtime client on Node 24, with one function and one event at a time. The process is stopped while it
 * waits for an event, as Lambda freezes it.
 */
export async function startEnvironment(spec: FunctionSpec) {
  const { timeoutMs = 60_000 } = spec
  let isIdle = false
  const waiting: (() => void)[] = []
  const api = await startRuntimeApi((isIdleNow) => {
    isIdle = isIdleNow
    if (!isIdle) return
    child.kill('SIGSTOP')
    waiting.shift()?.()
  })
  const { node, client, preload } = installed()
  const child = spawn(node, ['--require', preload, client], {
    cwd: spec.folder,
    env: { ...environmentOf(spec), ...spec.environment, AWS_LAMBDA_RUNTIME_API: api.host },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      output += chunk
    })
  let isOver = false
  const ended = new Promise<string>((resolve) => {
    child.once('exit', (code, signal) => {
      isOver = true
      resolve(`Runtime.ExitError: exit status ${code ?? signal}\n${output}`)
    })
  })
  const untilEnd = <T>(outcome: Promise<T>): Promise<T> =>
    Promise.race([
      outcome,
      ended.then((how) => {
        throw new Error(how)
      }),
    ])

  return {
    processId: child.pid ?? 0,
    output: () => output,
    isIdle: () => isIdle && !isOver,
    isOver: () => isOver,
    isFrozen: () => / T /.test(readFileSync(`/proc/${child.pid}/stat`, 'utf8')),
    /**
     * Resolves when the answer begins; its body must be read.
     *
     * @throws Error `Runtime.ExitError` when the process ends instead, in Lambda's words.
     */
    async invoke(event: object): Promise<FunctionAnswer> {
      if (!isIdle) await untilEnd(new Promise<void>((resolve) => waiting.push(resolve)))
      child.kill('SIGCONT')
      const timer = setTimeout(() => child.kill('SIGKILL'), timeoutMs)
      const answer = new Promise<FunctionAnswer>((take) => {
        api.handOut({ event, deadlineAt: Date.now() + timeoutMs, take })
      })
      return untilEnd(answer).finally(() => clearTimeout(timer))
    },
    stop: async () => {
      child.kill('SIGKILL')
      await ended
      await api.stop()
    },
  }
}

/** The complete answer. */
export async function whole({ head, body, errorType }: FunctionAnswer) {
  const text = (await buffer(body)).toString()
  return { status: head?.statusCode, headers: head?.headers ?? {}, body: text, errorType: errorType() }
}

const environmentOf = ({ name, folder, handler = 'index.handler', memoryMb = 512 }: FunctionSpec) => ({
  _HANDLER: handler,
  LAMBDA_TASK_ROOT: folder,
  AWS_LAMBDA_FUNCTION_NAME: name,
  AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
  AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(memoryMb),
  AWS_LAMBDA_LOG_GROUP_NAME: 'unit-guard',
  AWS_LAMBDA_LOG_STREAM_NAME: 'test',
  AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x',
  AWS_REGION: 'eu-central-1',
  AWS_ACCESS_KEY_ID: 'test',
  AWS_SECRET_ACCESS_KEY: 'test',
})

const packages = join(import.meta.dirname, '..', 'node_modules')

const installed = () => ({
  node: join(packages, `node-linux-${process.arch}`, 'bin', 'node'),
  client: join(packages, 'aws-lambda-ric', 'index.mjs'),
  preload: join(import.meta.dirname, 'native-client.cjs'),
})
