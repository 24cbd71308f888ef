import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readdir, readFile, rm } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import * as z from 'zod/mini'
import { environment } from '../../../shared/platform/settings.ts'
import { CannotContinue } from '../failures.ts'
import type { Environment } from '../settings.ts'

export interface DynamoDbLocal {
  readonly endpoint: string
  /** Resolves when it ends, for any reason. */
  readonly ended: Promise<void>
  stop(): Promise<void>
}

export class NoJava extends Error {
  override readonly name = 'NoJava'
}

const quickStart = '-Xmx256m -XX:TieredStopAtLevel=1 -XX:+UseSerialGC'
const startsWithinMs = 30_000
const stopsWithinMs = 2_500
/** The guard's environment has secrets that Java does not need. */
const passedOn = ['PATH', 'HOME', 'JAVA_HOME', 'TMPDIR']
const keeper = fileURLToPath(new URL('./dynamodb-keeper.js', import.meta.url))

/**
 * A keeper process in a group of its own stops DynamoDB Local, so that a killed guard loses no answered write.
 *
 * @param directory an absolute path; `null` keeps nothing.
 * @throws NoJava
 */
export async function startDynamoDbLocal(directory: string | null, javaOptions = quickStart): Promise<DynamoDbLocal> {
  const child = spawn(process.execPath, [keeper, directory ?? ''], {
    detached: true,
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...onlyNeeded(environment()), JAVA_TOOL_OPTIONS: javaOptions },
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
    if (isOver || Date.now() > deadline) throw failure(said.replace(/^port \d+$/m, '').trim(), directory)
    await Promise.race([sleep(50), ended])
    endpoint = endpointSaid()
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
  if (said === 'locked') return new CannotContinue(`another Unit Guard is starting on ${directory}; set DATA_DIR`)
  return new CannotContinue(`DynamoDB Local did not start: ${said || 'it does not answer'}`)
}

const answersWithinMs = 2_000

/** DynamoDB refuses an unsigned request with a request id. */
export async function isDynamoDb(endpoint: string): Promise<boolean> {
  try {
    const answer = await fetch(endpoint, { signal: AbortSignal.timeout(answersWithinMs) })
    await answer.arrayBuffer()
    return answer.headers.has('x-amzn-requestid')
  } catch {
    return false
  }
}

const waitsForMs = 10_000
const lockFile = z.object({ keeper: z.number(), java: z.nullable(z.number()), port: z.nullable(z.number()) })

/** Waits until no other database uses the files, because two would lose answered writes. @throws CannotContinue */
export async function waitForLock(directory: string, tell: (message: string) => void): Promise<void> {
  const file = `${directory}.lock`
  const deadline = Date.now() + waitsForMs
  for (let round = 0; ; round++) {
    const lock = await readLock(file)
    if (!lock) return
    const javaIsAlive = lock.java !== null && isAlive(lock.java)
    if (!javaIsAlive && !isAlive(lock.keeper)) return rm(file, { force: true })

    const answers = lock.port !== null && (await isDynamoDb(`http://127.0.0.1:${lock.port}`))
    if (round === 0) tell('waiting for the database of an earlier start to end …')
    // Its keeper was killed, so no one else stops it. It answers, so the process id is still its own.
    if (answers && lock.java !== null && !isAlive(lock.keeper)) process.kill(lock.java, 'SIGTERM')
    if (Date.now() > deadline) {
      if (answers) throw new CannotContinue(`another Unit Guard is using ${directory}; stop it, or set DATA_DIR`)
      return rm(file, { force: true })
    }
    await sleep(100)
  }
}

async function readLock(file: string): Promise<z.output<typeof lockFile> | null> {
  const text = await readFile(file, 'utf8').catch(() => null)
  if (text === null) return null
  try {
    return lockFile.parse(JSON.parse(text))
  } catch {
    await rm(file, { force: true })
    return null
  }
}

/** EPERM: a process of another user. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

const keyBytes = 20
/** DynamoDB Local has one file for each access key and region. */
const ownFile = /^([0-9a-f]{40})_local\.db$/
const _fileOf = (key: string): string => `${key}_local.db`

export const newAccessKey = (): string => randomBytes(keyBytes).toString('hex')

/** The access key is secret: any user of this machine can connect. @throws CannotContinue for several ledgers */
export async function readAccessKey(directory: string | null): Promise<string> {
  if (directory === null) return newAccessKey()
  const ledgers = (await readdir(directory)).filter((file) => ownFile.test(file))
  if (ledgers.length > 1) {
    throw new CannotContinue(
      `${directory} holds several ledgers: ${ledgers.join(', ')}; move away all but the one to use`,
    )
  }
  return ownFile.exec(ledgers[0] ?? '')?.[1] ?? newAccessKey()
}
