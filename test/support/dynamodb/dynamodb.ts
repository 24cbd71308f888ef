import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

class NoJava extends Error {
  override readonly name = 'NoJava'
}

export interface DynamoDbLocal {
  readonly endpoint: string
  stop(): Promise<void>
}

const quickStart = '-Xmx256m -XX:TieredStopAtLevel=1 -XX:+UseSerialGC'
const startsWithinMs = 30_000
const stopsWithinMs = 2_500
const keeper = fileURLToPath(new URL('./keeper.js', import.meta.url))

/** Starts DynamoDB Local in memory, on a free port. A keeper process stops it when this process ends. @throws NoJava */
export async function startDynamoDbLocal(javaOptions = quickStart): Promise<DynamoDbLocal> {
  const child = spawn(process.execPath, [keeper], {
    detached: true,
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, JAVA_TOOL_OPTIONS: javaOptions },
  })
  let isOver = false
  const ended = once(child, 'close').then(() => {
    isOver = true
  })
  let said = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  child.stdin.on('error', () => {})
  const endpointSaid = () => {
    const port = /^port (\d+)$/m.exec(said)?.[1]
    return port === undefined ? undefined : `http://127.0.0.1:${port}`
  }
  const deadline = Date.now() + startsWithinMs
  let endpoint = endpointSaid()
  while (endpoint === undefined || !(await isDynamoDb(endpoint))) {
    if (isOver || Date.now() > deadline) throw failure(said.replace(/^port \d+$/m, '').trim())
    await Promise.race([sleep(50), ended])
    endpoint = endpointSaid()
  }
  child.unref()
  return {
    endpoint,
    stop: async (): Promise<void> => {
      child.stdin.end()
      await Promise.race([ended, sleep(stopsWithinMs)])
    },
  }
}

const failure = (said: string): Error =>
  said === 'no-java'
    ? new NoJava('java was not found, or is older than 17')
    : new Error(`DynamoDB Local did not start: ${said || 'it does not answer'}`)

const answersWithinMs = 2_000

/** DynamoDB refuses an unsigned request with a request id. */
async function isDynamoDb(endpoint: string): Promise<boolean> {
  try {
    const answer = await fetch(endpoint, { signal: AbortSignal.timeout(answersWithinMs) })
    await answer.arrayBuffer()
    return answer.headers.has('x-amzn-requestid')
  } catch {
    return false
  }
}
