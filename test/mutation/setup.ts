import type { TestProject } from 'vitest/node'

/** No database, because all stores behave alike and the one in memory is the fastest. */
export default function setup(project: TestProject): void {
  project.provide('dynamodb', null)
}
