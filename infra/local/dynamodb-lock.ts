import { readFile, rm } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import * as z from 'zod/mini'
import { isDynamoDb } from './dynamodb-probe.ts'
import { CannotGoOn } from './failures.ts'

const waitsForMs = 10_000
const lockFile = z.object({ keeper: z.number(), java: z.nullable(z.number()), port: z.number() })

/**
 * Waits until no database of an earlier start touches the files any more: after a crash it takes a moment to end by
 * itself, and two of them on one file would lose what was answered.
 *
 * @throws CannotGoOn when one goes on using them.
 */
export async function waitForLock(directory: string, tell: (message: string) => void): Promise<void> {
  const file = `${directory}.lock`
  const deadline = Date.now() + waitsForMs
  for (let round = 0; ; round++) {
    const lock = await readLock(file)
    if (!lock) return
    const javaIsAlive = lock.java !== null && isAlive(lock.java)
    if (!javaIsAlive && !isAlive(lock.keeper)) return rm(file, { force: true })

    const answers = await isDynamoDb(`http://127.0.0.1:${lock.port}`)
    if (round === 0) tell('waiting for the database of an earlier start to end …')
    // Its keeper was killed, so nobody else will ever stop it. That it answers shows that the id is not another's by now.
    if (answers && lock.java !== null && !isAlive(lock.keeper)) process.kill(lock.java, 'SIGTERM')
    if (Date.now() > deadline) {
      if (answers) throw new CannotGoOn(`another Unit Guard is using ${directory}; stop it, or set DATA_DIR`)
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
    // It is written before the database is started: half a lock is none.
    await rm(file, { force: true })
    return null
  }
}

/** Signal 0 asks without touching; a process of somebody else's is alive too. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}
