import http from 'node:http'
import { text } from 'node:stream/consumers'
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import type { Database } from '../database.ts'

export interface Rival {
  /** Estimates, checks the budget in its own way, runs and books. Rejects if it refuses the update. */
  update(project: string, key: string): Promise<unknown>
  stop?(): Promise<void>
}

export interface Ground {
  readonly database: Database
  readonly client: DynamoDBClient
  readonly serviceUrl: string
  readonly units: number
}

/** The minimum for requests to the service: kept connections and no repeat. */
export function connect(serviceUrl: string) {
  const agent = new http.Agent({ keepAlive: true })
  const get = (path: string) =>
    new Promise<string>((resolve, reject) => {
      http
        .get(`${serviceUrl}${path}`, { agent }, (response) => text(response).then(resolve, reject))
        .on('error', reject)
    })
  return {
    estimate: async (project: string): Promise<number> =>
      JSON.parse(await get(`/on-demand/${project}/estimate`)).data.keyword_units,
    run: (project: string) => get(`/on-demand/${project}/run`),
  }
}

export const number = (value: number) => ({ N: String(value) })
