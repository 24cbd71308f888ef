// Loaded before a command. Kills its process before the step KILL_AT among those that change files.
import fs from 'node:fs'
import { createRequire, syncBuiltinESMExports } from 'node:module'

let left = Number(process.env.KILL_AT)
const Database = createRequire(import.meta.url)('libsql')

function killBefore(object, name, isStep = () => true) {
  const original = object[name]
  object[name] = function (...args) {
    if (isStep(...args) && --left === 0) process.kill(process.pid, 'SIGKILL')
    return original.apply(this, args)
  }
}

const handle = await fs.promises.open('/dev/null')
for (const name of ['write', 'sync']) killBefore(Object.getPrototypeOf(handle), name)
await handle.close()
for (const name of ['copyFile', 'rename', 'rm', 'writeFile']) killBefore(fs.promises, name)
let writes = false
killBefore(Database.prototype, 'exec', (sql) => {
  if (sql.startsWith('BEGIN')) writes = sql.startsWith('BEGIN IMMEDIATE')
  return writes && sql === 'COMMIT'
})
killBefore(Database.prototype, 'close')
syncBuiltinESMExports()
