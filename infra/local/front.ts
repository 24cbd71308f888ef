import { rawPathOf } from '../../shared/platform/raw-path.ts'
import type { Answering } from './door.ts'

/** Two functions of AWS behind one port: what Slack calls, and everything else. */
export function createFront({ api, slack }: { api: Answering; slack: Answering }): Answering {
  return {
    fetch: (request, env) => (rawPathOf(request, { env }).startsWith('/slack/') ? slack : api).fetch(request, env),
  }
}
