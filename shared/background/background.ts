import { createEvents } from '../events/events.ts'
import type { Network } from '../events/webhook.ts'
import type { Reports } from '../reports/all-reports.ts'
import { reportsOf } from '../reports/reports.ts'
import type { Channel } from '../services/channel.ts'
import type { Services } from '../services/services.ts'
import { createSlack, type Slack } from '../slack/slack.ts'

/** What works without a request: the readers of the stream, and scheduled jobs. */
export interface Background extends Services {
  readonly slack: Slack
  readonly channels: readonly [people: Slack, systems: Channel]
  reports(): Promise<Reports>
}

/** @param network replaces the network of events, for tests. */
export function createBackground(services: Services, network?: Network): Background {
  const slack = createSlack(services)
  const events = createEvents(services, network)
  return { ...services, slack, channels: [slack, events], reports: () => reportsOf(services.guard) }
}
