import type { Answering } from './door.ts'

/** Two functions of AWS behind one port: what Slack calls, and everything else. */
export function createFront({ api, slack }: { api: Answering; slack: Answering }): Answering {
  const partFor = ({ url }: Request) => (new URL(url).pathname.startsWith('/slack/') ? slack : api)
  return { fetch: (request, env) => partFor(request).fetch(request, env) }
}
