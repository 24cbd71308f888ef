import type { TestProject } from 'vitest/node'
import { NoJava, startDynamoDbLocal } from '../dynamodb/dynamodb.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** `null`: no Java, and tests of the real ledger do not run. */
    dynamodb: string | null
  }
}

/** One DynamoDB Local for the run; each test file makes its own tables. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  try {
    const dynamodb = await startDynamoDbLocal()
    project.provide('dynamodb', dynamodb.endpoint)
    return dynamodb.stop
  } catch (error) {
    if (!(error instanceof NoJava) || process.env.CI === 'true') throw error
    console.error('\n*** NO JAVA: NOTHING WAS TESTED AGAINST DYNAMODB. Install Java 17 or newer and run again. ***\n')
    project.provide('dynamodb', null)
    return async () => {}
  }
}
