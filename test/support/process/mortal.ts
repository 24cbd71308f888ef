import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import Database from 'libsql'
import { onTestFinished } from 'vitest'

type Callable = (this: unknown, ...args: unknown[]) => unknown

/**
 * Lets the work of this process die before its n-th step, counted from 0. A step changes a file, commits a transaction of SQLite, or is named by
 * the test. Each later step fails too, so that nothing is tidied up: only transactions are rolled back, as for a dead process.
 */
export async function mortalProcess(n: number) {
  const steps: string[] = []
  const undone: (() => void)[] = []
  let isDead = false

  function step(name: string): void {
    isDead ||= steps.length === n
    if (isDead) throw new Error(`died before ${name}`)
    steps.push(name)
  }

  function replace(owner: object, name: string, by: (original: Callable) => Callable): void {
    const original: Callable = Reflect.get(owner, name)
    Reflect.set(owner, name, by(original))
    undone.push(() => Reflect.set(owner, name, original))
  }

  const handle = await fs.promises.open('/dev/null')
  const promising = (name: string) => (original: Callable) =>
    async function (this: unknown, ...args: unknown[]) {
      step(name)
      return original.apply(this, args)
    }
  for (const name of ['write', 'sync']) replace(Object.getPrototypeOf(handle), name, promising(name))
  for (const name of ['copyFile', 'rename', 'rm', 'writeFile']) replace(fs.promises, name, promising(name))
  await handle.close()
  const [used, writing] = [new Set<Database.Database>(), new WeakSet<object>()]
  replace(
    Database.prototype,
    'exec',
    (original) =>
      function (this: unknown, sql: unknown) {
        const db = this as Database.Database
        used.add(db)
        if (sql === 'BEGIN IMMEDIATE') writing.add(db)
        if (sql === 'COMMIT' && writing.delete(db)) step('commit')
        return original.call(db, sql)
      },
  )
  // A closed connection would keep the locks of a transaction that did not end.
  replace(
    Database.prototype,
    'close',
    (original) =>
      function (this: unknown) {
        if (isDead) rollBack(this as Database.Database)
        return original.call(this)
      },
  )
  syncBuiltinESMExports()

  function revive(): void {
    for (const undo of undone.splice(0)) undo()
    syncBuiltinESMExports()
    if (isDead) for (const db of used) rollBack(db)
    used.clear()
  }
  onTestFinished(revive)
  return { step, steps, isDead: () => isDead, revive }
}

function rollBack(db: Database.Database): void {
  if (db.open && db.inTransaction) db.exec('ROLLBACK')
}

/**
 * Prepares, and lets `live` die before its first step; then again before its second, and so on, until it does not die.
 *
 * @returns the steps of the whole life.
 */
export async function diesAtEachStep<Prepared>(
  prepare: () => Promise<Prepared>,
  live: (process: Awaited<ReturnType<typeof mortalProcess>>, prepared: Prepared) => Promise<void>,
): Promise<readonly string[]> {
  for (let n = 0; ; n++) {
    const prepared = await prepare()
    const process = await mortalProcess(n)
    await live(process, prepared)
    process.revive()
    if (!process.isDead()) return process.steps
  }
}
