import type { TestProject } from 'vitest/node'

/** No database: what is true of one store is true of all, and the one in memory is the fastest. */
export default function setup(project: TestProject): void {
  project.provide('dynamodb', null)
}
