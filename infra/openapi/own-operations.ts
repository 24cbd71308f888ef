import { type AnswerOf, type Operation, recordedAs, refusals } from './operation.ts'

const updates = { group: 'Updates' } as const
const budgets = { group: 'Budgets' } as const
const entries = { group: 'Entries and statements' } as const
const callers = { group: 'Callers' } as const
const plans = { group: 'Plans' } as const
const rest = { group: 'The guard itself', scopes: null, problems: [] } as const

const update = (means: string): AnswerOf => ({ means, body: 'Update' })
const budget = (means: string): AnswerOf => ({ means, body: 'Budget', headers: ['ETag'] })
const page = { means: 'A page, where the API and the dashboard share an address', body: { type: 'text/html' } } as const
const onDashboard = { means: 'The page is on the dashboard', body: null, headers: ['Location'] } as const

/** Every operation of the guard's own API, in the order in which people meet them. */
export const ownOperations: readonly Operation[] = [
  {
    ...{ ...updates, method: 'GET', path: '/estimates', id: 'estimate', scopes: ['read'] },
    summary: 'What updates would cost, and whether they would pass; spends nothing',
    query: 'estimate',
    example: '/estimates?kind=ranking&project=initech&project=globex',
    answers: { 200: { means: 'The units, and every counter that would be moved', body: 'Estimate' } },
    problems: ['estimate-unreadable', 'service-refused', 'service-unreachable'],
  },
  {
    ...{ ...updates, method: 'POST', path: '/updates', id: 'askForUpdates', scopes: ['run', 'propose'] },
    summary: 'Asks for updates: each is estimated, held against its budgets, run at most once, and settled',
    more:
      'The first status that fits: 202 something is requested, running, awaiting approval or in doubt; 201 something settled; 200 the same work was done a short while ago; 502 nothing ran although it was admitted, or there was no estimate; 409 the same work is under way; 402 all were refused. ' +
      'A key belongs to the caller and this address: the same key and content have the same answer for ever, so a request whose answer was lost may be sent again with its key. Nothing is recorded with 400, 401, 403, 413, 415, 422, 429 and 503, nor where the estimate failed.',
    headers: ['Idempotency-Key', 'Prefer'],
    body: {
      schema: 'UpdatesRequest',
      example: {
        kind: 'keyword-difficulty',
        projects: ['1001', '1003'],
        whenShort: 'fit',
        maxUnits: 200,
        reason: 'report 47',
      },
    },
    answers: {
      200: {
        means: 'The same work was done a short while ago, and these are those updates; nothing was spent',
        body: 'Updates',
        headers: ['Unit-Guard-Replayed', 'Idempotency-Replayed', 'Location'],
      },
      201: {
        means: 'Something settled, and nothing is pending',
        body: 'Updates',
        headers: ['Idempotency-Replayed', 'Location'],
      },
      202: {
        means: 'Something is requested, running, awaiting approval or in doubt',
        body: 'Updates',
        headers: ['Idempotency-Replayed', 'Location'],
      },
    },
    problems: refusals,
    alsoAs: recordedAs,
  },
  {
    ...{ ...updates, method: 'GET', path: '/updates', id: 'listUpdates', scopes: ['read'] },
    summary: 'Updates, newest first',
    query: 'updates',
    example: '/updates?state=settled&budget=demo&limit=10',
    answers: { 200: { means: 'A page of them', body: 'UpdateList', csv: true } },
    problems: [],
  },
  {
    ...{ ...updates, method: 'GET', path: '/updates/{id}', id: 'getUpdate', scopes: ['read'] },
    summary: 'One update with its history and the service’s answer',
    answers: { 200: update('The update') },
    problems: ['not-found'],
  },
  {
    ...{ ...updates, method: 'POST', path: '/updates/{id}/approve', id: 'approveUpdate', scopes: ['approve'] },
    summary: 'Agrees to an update that awaits it, and starts it; never by who asked, nor the same person',
    body: { schema: 'Approval', optional: true, example: { reason: 'agreed with the client', units: 640 } },
    answers: { 200: update('It has ended'), 202: update('It was started, and goes on') },
    problems: ['wrong-state', 'not-found'],
  },
  {
    ...{ ...updates, method: 'POST', path: '/updates/{id}/reject', id: 'rejectUpdate', scopes: ['approve'] },
    summary: 'Turns an update down that awaits approval',
    body: { schema: 'OptionalReason', optional: true, example: { reason: 'not this month' } },
    answers: { 200: update('It is rejected') },
    problems: ['wrong-state', 'not-found'],
  },
  {
    ...{ ...updates, method: 'POST', path: '/updates/{id}/cancel', id: 'cancelUpdate' },
    scopes: ['run', 'propose', 'admin'],
    summary: 'Takes an update back before it runs; by who asked, or an administrator',
    body: { schema: 'OptionalReason', optional: true, example: { reason: 'asked for the wrong project' } },
    answers: { 200: update('It is cancelled') },
    problems: ['wrong-state', 'not-found'],
  },
  {
    ...{ ...updates, method: 'POST', path: '/updates/cancel', id: 'cancelUpdates' },
    scopes: ['run', 'propose', 'admin'],
    summary: 'Cancels up to 100 updates at once',
    body: { schema: 'ManyCancellations', example: { ids: ['upd_0k3v9q2m'], reason: 'a loop asked for all of them' } },
    answers: { 200: { means: 'At least one was cancelled', body: 'Cancelled' } },
    problems: ['wrong-state', 'not-found'],
  },
  {
    ...{ ...updates, method: 'POST', path: '/updates/{id}/resolve', id: 'resolveUpdate', scopes: ['approve'] },
    summary: 'Says what happened to an update that is in doubt',
    body: { schema: 'Resolution', example: { outcome: 'ran', reason: 'seen on the vendor’s screen' } },
    answers: { 200: update('It is settled or released') },
    problems: ['wrong-state', 'not-found'],
  },
  {
    ...{ ...updates, method: 'POST', path: '/updates/resolve', id: 'resolveUpdates', scopes: ['approve'] },
    summary: 'The same for up to 100 updates at once',
    body: {
      schema: 'ManyResolutions',
      example: { ids: ['upd_0k3v9q2m'], outcome: 'did-not-run', reason: 'the vendor was down' },
    },
    answers: { 200: { means: 'At least one was resolved', body: 'Resolved' } },
    problems: ['wrong-state', 'not-found'],
  },

  {
    ...{ ...budgets, method: 'GET', path: '/budgets', id: 'listBudgets', scopes: ['read'] },
    summary: 'Every budget with its figures',
    query: 'window',
    answers: { 200: { means: 'All of them', body: 'BudgetList', headers: ['ETag'] } },
    problems: [],
  },
  {
    ...{ ...budgets, method: 'PUT', path: '/budgets', id: 'applyBudgets', scopes: ['admin'] },
    summary: 'Sets many budgets as one revision: all or nothing',
    query: 'apply',
    headers: ['If-Match'],
    example: '/budgets?dry-run=true',
    body: {
      schema: 'BudgetsRequest',
      example: { budgets: [{ name: 'acme', limits: [{ window: 'month', units: 1200 }] }], reason: 'contract 13' },
    },
    answers: { 200: { means: 'The difference, applied or only shown', body: 'AppliedBudgets', headers: ['ETag'] } },
    problems: ['precondition-failed', 'wrong-state'],
  },
  {
    ...{ ...budgets, method: 'GET', path: '/budgets/{name}', id: 'getBudget', scopes: ['read'] },
    summary: 'One budget with its figures',
    query: 'window',
    answers: { 200: budget('The budget') },
    problems: ['not-found'],
  },
  {
    ...{ ...budgets, method: 'PUT', path: '/budgets/{name}', id: 'putBudget', scopes: ['admin'] },
    summary: 'Makes a budget, or replaces all of it; at once, also for updates that are decided and not yet held',
    headers: ['If-Match'],
    body: {
      schema: 'BudgetRequest',
      example: {
        limits: [
          { window: 'month', units: 2000 },
          { window: 'day', units: 300 },
        ],
        projects: [{ name: 'initech', id: '1003' }],
        perUpdate: 500,
        approvalAbove: 100,
        reason: 'contract 12',
      },
    },
    answers: { 200: budget('It was replaced'), 201: budget('It was made') },
    problems: ['precondition-failed', 'wrong-state'],
  },
  {
    ...{ ...budgets, method: 'DELETE', path: '/budgets/{name}', id: 'deleteBudget', scopes: ['admin'] },
    summary: 'Deletes a budget that has no children, holds or doubts; never `account`',
    headers: ['If-Match'],
    answers: { 204: { means: 'It is gone; its counters are kept to the month’s end', body: null } },
    problems: ['precondition-failed', 'wrong-state', 'not-found'],
  },
  {
    ...{ ...budgets, method: 'POST', path: '/budgets/{name}/freeze', id: 'freezeBudget', scopes: ['admin'] },
    summary: 'Stops every update that would be charged to a budget or its descendants',
    headers: ['If-Match'],
    body: { schema: 'Reason', example: { reason: 'a cron job has gone wild' } },
    answers: { 200: budget('It is frozen') },
    problems: ['precondition-failed', 'not-found', 'wrong-state'],
  },
  {
    ...{ ...budgets, method: 'POST', path: '/budgets/{name}/unfreeze', id: 'unfreezeBudget', scopes: ['admin'] },
    summary: 'Lets a frozen budget go on',
    headers: ['If-Match'],
    body: { schema: 'Reason', example: { reason: 'repaired' } },
    answers: { 200: budget('It is not frozen any more') },
    problems: ['precondition-failed', 'not-found', 'wrong-state'],
  },
  {
    ...{ ...budgets, method: 'GET', path: '/forecast', id: 'forecast', scopes: ['read'] },
    summary: 'What plans will still take from each budget, and when nothing will be left',
    answers: { 200: { means: 'At prices that are read once a night', body: 'Forecast' } },
    problems: [],
  },

  {
    ...{ ...entries, method: 'POST', path: '/budgets/{name}/entries', id: 'enter', scopes: ['admin'] },
    summary: 'Books what no update did: a grant, a transfer, spending outside the guard, a correction',
    more: 'An answer of 402 or 409 says that it would take more than is left or spent.',
    headers: ['Idempotency-Key'],
    body: {
      schema: 'EntryRequest',
      example: { type: 'grant', units: 400, window: 'month', reason: 'the client pays for more' },
    },
    answers: { 201: { means: 'It is booked', body: 'Entry', headers: ['Idempotency-Replayed'] } },
    problems: ['over-budget', 'wrong-state', 'key-reused', 'not-found'],
  },
  {
    ...{ ...entries, method: 'GET', path: '/budgets/{name}/entries', id: 'listEntries', scopes: ['read'] },
    summary: 'What was booked without an update, newest first',
    query: 'entries',
    answers: { 200: { means: 'A page of them', body: 'EntryList', csv: true } },
    problems: ['not-found'],
  },
  {
    ...{ ...entries, method: 'POST', path: '/budgets/account/reconcile', id: 'reconcile', scopes: ['admin'] },
    summary: 'Books the difference to the figure on the vendor’s screen',
    headers: ['Idempotency-Key'],
    body: { schema: 'Reconciliation', example: { unitsLeft: 49500, reason: 'the vendor’s screen, this morning' } },
    answers: {
      200: { means: 'It is booked; `units` 0: they agree', body: 'Entry', headers: ['Idempotency-Replayed'] },
    },
    problems: ['over-budget', 'wrong-state', 'key-reused'],
  },
  {
    ...{ ...entries, method: 'GET', path: '/statements', id: 'statement', scopes: ['read'] },
    summary: 'Where the units of a month went',
    query: 'statement',
    example: '/statements?window=month:2026-11-01&by=project&price=0.012',
    answers: { 200: { means: 'Adds up to the book of the month', body: 'Statement', csv: true } },
    problems: [],
  },
  {
    ...{ ...entries, method: 'GET', path: '/audit', id: 'audit', scopes: ['read'] },
    summary: 'Every book against the sum of its lines',
    answers: { 200: { means: 'Each counter, twice', body: 'Audit' } },
    problems: [],
  },
  {
    ...{ ...entries, method: 'GET', path: '/changes', id: 'listChanges', scopes: ['read'] },
    summary: 'Projects that were created or updated through the gateway',
    query: 'page',
    answers: { 200: { means: 'A page of them, newest first', body: 'ChangeList' } },
    problems: [],
  },

  {
    ...{ ...callers, method: 'GET', path: '/callers', id: 'listCallers', scopes: ['admin'] },
    summary: 'Who may do what, beside what their token says',
    answers: { 200: { means: 'Everybody who is listed', body: 'CallerList', headers: ['ETag'] } },
    problems: [],
  },
  {
    ...{ ...callers, method: 'GET', path: '/callers/{sub}', id: 'getCaller', scopes: ['admin'] },
    summary: 'One of them',
    answers: { 200: { means: 'The caller', body: 'Caller', headers: ['ETag'] } },
    problems: ['not-found'],
  },
  {
    ...{ ...callers, method: 'PUT', path: '/callers/{sub}', id: 'putCaller', scopes: ['admin'] },
    summary: 'Lists a caller: what a Slack user may do, and what narrows a token',
    headers: ['If-Match'],
    example: '/callers/slack:U02ADA',
    body: {
      schema: 'CallerRequest',
      example: { scopes: ['read', 'run', 'approve'], budgets: '*', person: 'ada', reason: 'runs the reports' },
    },
    answers: {
      200: { means: 'Replaced', body: 'Caller', headers: ['ETag'] },
      201: { means: 'Listed', body: 'Caller', headers: ['ETag'] },
    },
    problems: ['precondition-failed', 'wrong-state'],
  },
  {
    ...{ ...callers, method: 'DELETE', path: '/callers/{sub}', id: 'deleteCaller', scopes: ['admin'] },
    summary: 'Takes a caller off the list: a token may do what it says again, a Slack user nothing',
    headers: ['If-Match'],
    answers: { 204: { means: 'Not listed any more', body: null } },
    problems: ['precondition-failed', 'not-found'],
  },

  {
    ...{ ...plans, method: 'GET', path: '/plans', id: 'listPlans', scopes: ['read'] },
    summary: 'What schedules ask for, when next, and what became of it last',
    answers: { 200: { means: 'All plans of the plans file', body: 'PlanList' } },
    problems: [],
  },
  {
    ...{ ...plans, method: 'POST', path: '/plans/{name}/pause', id: 'pausePlan', scopes: ['admin'] },
    summary: 'Keeps a plan from running',
    body: { schema: 'Reason', example: { reason: 'the vendor is down' } },
    answers: { 200: { means: 'It is paused', body: 'Plan' } },
    problems: ['not-found', 'wrong-state'],
  },
  {
    ...{ ...plans, method: 'POST', path: '/plans/{name}/resume', id: 'resumePlan', scopes: ['admin'] },
    summary: 'Lets it run again',
    body: { schema: 'Reason', example: { reason: 'back again' } },
    answers: { 200: { means: 'It is not paused any more', body: 'Plan' } },
    problems: ['not-found', 'wrong-state'],
  },
  {
    ...{ ...plans, method: 'POST', path: '/plans/{name}/run', id: 'runPlan', scopes: ['run'] },
    summary: 'Runs a plan as of one of its times; needs every budget that it charges',
    headers: ['Prefer'],
    body: { schema: 'OccurrenceRequest', example: { time: '2026-11-20T05:00:00Z', only: 'unsent' } },
    answers: {
      200: { means: 'It has ended', body: 'Occurrence' },
      202: { means: 'It goes on', body: 'Occurrence' },
    },
    problems: ['plan-paused', 'wrong-state', 'not-found'],
  },

  {
    ...{ ...rest, method: 'GET', path: '/health', id: 'health' },
    summary: 'Whether the function answers; touches neither service nor ledger',
    answers: { 200: { means: 'It does', body: 'Health' } },
  },
  {
    ...{ ...rest, method: 'GET', path: '/openapi.json', id: 'openapi' },
    summary: 'This document',
    answers: { 200: { means: 'OpenAPI 3.1', body: { type: 'application/json' } } },
  },
  {
    ...{ ...rest, method: 'GET', path: '/docs', id: 'docs' },
    summary: 'The same, to be read',
    answers: { 200: page, 308: onDashboard },
    problems: ['not-found'],
  },
  {
    ...{ ...rest, method: 'GET', path: '/problems/{slug}', id: 'problemPage' },
    summary: 'What one type of problem means, what was counted, and what to do',
    example: '/problems/over-budget',
    answers: { 200: page, 308: onDashboard },
    problems: ['not-found'],
  },
]
