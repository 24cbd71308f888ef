/** What was not measured on AWS. Each is a flag of the command. */
export const assumptions = {
  'service-seconds': [4, 'the service takes for estimate and run of an update'],
  'estimate-seconds': [1, 'the service takes for an estimate alone'],
  'read-seconds': [0.5, 'the service takes for a read through the gateway'],
  'guard-ms': [100, 'the guard takes for its own part of a request, a page included'],
  'refused-ms': [10, 'a function takes to refuse a request without a token'],
  'slack-ms': [50, 'the function for Slack takes to record a request'],
  'tell-ms': [50, 'the tell reader takes for one call; there are two for each update'],
  'sweep-seconds': [1, 'a sweep takes'],
  'digest-seconds': [20, 'the digest and its audit take'],
  'log-kb': [4, 'an update writes into the log, Lambda’s own lines included'],
  'request-log-kb': [0.8, 'every other request writes into the log, Lambda’s own lines included'],
  'sweep-log-kb': [2, 'a sweep writes into the log, its figures included'],
  'answer-kb': [2, 'an answer of the API has'],
  'refusal-kb': [0.6, 'the answer to a refused request has, headers included'],
  'page-kb': [30, 'a page of the dashboard has'],
  'read-kb': [50, 'an answer of the service to a read has'],
  'record-kb': [1.5, 'an update takes in the table, index rows and entries included'],
  'kept-months': [12, 'months of updates are in the table'],
  'audited-days': [45, 'nights in which an update is audited: this month’s and last month’s are'],
  processes: [1, 'processes are awake on average; each reads its secrets every five minutes'],
  'error-events': [3, 'different error events occur in a month; each is a metric'],
  'waf-rules': [1, 'rules does the edge have'],
} as const satisfies Record<string, readonly [figure: number, what: string]>

type AssumptionName = keyof typeof assumptions
export type Assumed = Readonly<Record<AssumptionName, number>>

export const assumed = (own: Partial<Assumed> = {}): Assumed => {
  const usual = Object.entries(assumptions).map(([name, [figure]]) => [name, figure])
  return { ...Object.fromEntries(usual), ...own }
}
