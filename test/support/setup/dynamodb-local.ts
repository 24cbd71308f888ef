import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'
import type { TestProject } from 'vitest/node'
import { type DynamoDbLocal, startDynamoDbLocal } from '../dynamodb/dynamodb.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The address that answers with DynamoDB Local's. `null`: no Java, and tests of the real ledger do not run. */
    dynamodb: string | null
  }
}

/** One DynamoDB Local for the run, started when a test first asks for it; each test file makes its own tables. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  if (!(await hasJava())) {
    const warning = 'NOTHING WAS TESTED AGAINST DYNAMODB. Install Java 17 or newer and run again.'
    if (process.env.CI === 'true') throw new Error(warning)
    console.error(`\n*** NO JAVA: ${warning} ***\n`)
    project.provide('dynamodb', null)
    return async () => {}
  }
  let started: Promise<DynamoDbLocal> | undefined
  const starter = createServer((_request, response) => {
    started ??= startDynamoDbLocal()
    started.then(
      ({ endpoint }) => response.end(endpoint),
      (error) => response.writeHead(500).end(String(error)),
    )
  })
  await once(starter.listen(0, '127.0.0.1'), 'listening')
  project.provide('dynamodb', `http://127.0.0.1:${(starter.address() as AddressInfo).port}`)
  return async () => {
    starter.close()
    await (await started?.catch(() => undefined))?.stop()
  }
}

/** Some systems have a `java` that only names a download. */
async function hasJava(): Promise<boolean> {
  const said = await promisify(execFile)('java', ['-version']).catch(() => null)
  return Number(/version "(\d+)/.exec(said?.stderr ?? '')?.[1] ?? 0) >= 17
}
