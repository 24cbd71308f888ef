import { changed, nothing, type ProblemType, recorded } from './problem-type.ts'
import { serverProblems } from './server-problems.ts'

/** Answers, pages, the OpenAPI document and its pages read this table. */
export const problems = {
  'invalid-request': {
    status: 400,
    title: 'The request is not valid',
    meaning:
      'The body, the query, a header or a name is not valid for this address. `errors` lists each fault with its path.',
    counted: nothing,
    toDo: 'Correct what `errors` names and send the request again. The same idempotency key may be used, because nothing was recorded.',
  },
  unauthorized: {
    status: 401,
    title: 'A valid token is needed',
    meaning:
      'The bearer token is missing, not valid any more, or not meant for Unit Guard. The answer does not say which.',
    counted: nothing,
    toDo: 'Send `Authorization: Bearer <token>` with a token that has not expired. An operator of the guard makes one with `npm run token`.',
  },
  forbidden: {
    status: 403,
    title: 'This caller may not do that',
    meaning:
      'The token is valid, but this caller may not do that: a scope or a budget is missing, the caller is disabled, or the caller made the request that waits for approval. `detail` says which.',
    counted: nothing,
    toDo: 'Ask an administrator for the scope or the budget that `detail` names, or another person to decide.',
  },
  'wrong-address': {
    status: 403,
    title: 'This address is not open',
    meaning:
      'This deployment takes requests through its edge (CloudFront) only, and this one was sent to a function behind it.',
    counted: nothing,
    toDo: 'Use your company’s address for Unit Guard. An operator of the guard knows it, and `/units help` links to it.',
  },
  'over-budget': {
    status: 402,
    title: 'Not enough units available',
    meaning:
      'A budget on the way up to `account`, or the caller’s own limit, has fewer units left than this needs. `budgets` lists every counter that refused, with its figures and when it resets.',
    counted: recorded,
    toDo: 'See `wouldPass`. Ask for a grant of the `short` units, ask for fewer units, or ask again with a new key after `resetsAt`. With `whenShort: "ask"` a person decides.',
  },
  'over-update-limit': {
    status: 402,
    title: 'More units than one update may cost',
    meaning: 'The update needs more units than a budget, or the caller, allows for one update (`perUpdate`).',
    counted: recorded,
    toDo: 'Make the project smaller, or ask an administrator to raise `perUpdate`; then ask with a new key.',
  },
  'kind-not-allowed': {
    status: 402,
    title: 'The budget does not allow this kind of update',
    meaning: 'A budget that would be charged does not allow this kind of update.',
    counted: recorded,
    toDo: 'Charge another budget, or ask an administrator to add the kind to `kinds`.',
  },
  'no-price': {
    status: 402,
    title: 'The service says 0 units',
    meaning:
      'The estimate is 0. There is nothing to update, or the service does not know the price, so nothing was run.',
    counted: recorded,
    toDo: 'Check the project at the service. If 0 is its price there, an operator of the guard sets `ZERO_PRICE=free`. Then ask with a new key.',
  },
  'project-unowned': {
    status: 402,
    title: 'No budget lists the project',
    meaning:
      'No budget lists the project under this name, and `account` refuses such projects (`unowned: "refuse"`), whichever budget the request names.',
    counted: recorded,
    toDo: 'Check the name. If it is right, ask an administrator to list the project in a budget; then ask with a new key.',
  },
  'over-max-units': {
    status: 402,
    title: 'More units than the request allows for each update',
    meaning: 'The update needs more units than the request allows for each update with `maxUnits`.',
    counted: recorded,
    toDo: 'If `units` is worth it, ask again with a higher `maxUnits` and a new key.',
  },
  'already-fresh': {
    status: 402,
    title: "The project already has today's data",
    meaning: 'The project already has ranking data of today, so an update would spend units on nothing new.',
    counted: recorded,
    toDo: 'Use the data that is there. If the update is needed anyway, an administrator may `force` it with a reason.',
  },
  'budget-frozen': {
    status: 402,
    title: 'The budget is frozen',
    meaning:
      'A budget on the way up to `account` is frozen. `detail` says who froze it and why. Updates that would be charged to it or to a budget below it are refused.',
    counted: recorded,
    toDo: 'Ask the person who froze it. When it is unfrozen, ask again with a new key.',
  },
  'plan-paused': {
    status: 402,
    title: 'The plan is paused',
    meaning: 'The plan was paused before the update could begin.',
    counted: 'No units.',
    toDo: 'Resume the plan. Then run it with `only: "unsent"`, which updates the projects that were not sent.',
  },
  rejected: {
    status: 402,
    title: 'The update was rejected',
    meaning: 'A person rejected the update when it waited for approval.',
    counted: 'No units; the rejection is final for this update.',
    toDo: 'Ask the person that `detail` names. A new request, with a new key, may be approved.',
  },
  cancelled: {
    status: 402,
    title: 'The update was cancelled',
    meaning: 'The update was cancelled before it ran.',
    counted: 'No units; this is final for this update.',
    toDo: 'If the update is needed after all, ask again with a new key.',
  },
  expired: {
    status: 402,
    title: 'The update expired before it was begun',
    meaning: 'The update was not approved in time, or it could not begin within an hour.',
    counted: 'No units; this is final for this update.',
    toDo: 'Ask again with a new key.',
  },
  'already-updated': {
    status: 200,
    title: 'The same work was done a short while ago',
    meaning:
      'The same work was done a short while ago, so that update is the answer, with status 200. The record of the later request has this problem.',
    counted: 'Nothing again: the earlier update was charged once.',
    toDo: 'Use the update that `update` names. If the work is needed again, an administrator may `force` it with a reason.',
  },
  'not-found': {
    status: 404,
    title: 'There is nothing here',
    meaning: 'There is nothing at this address, or nothing of this name.',
    counted: nothing,
    toDo: 'Check the address and the name; `/docs` lists all addresses.',
  },
  'method-not-allowed': {
    status: 405,
    title: 'This address does not take that method',
    meaning: 'The address exists, but takes other methods; the header `Allow` lists them. HEAD never starts a run.',
    counted: nothing,
    toDo: 'Use one of the methods in `Allow`.',
  },
  'in-progress': {
    status: 409,
    title: 'The first request with this key is still running',
    meaning: 'The first request with this idempotency key is still running. `update` names its update.',
    counted: 'What the first request holds; this one adds nothing.',
    toDo: 'Wait and read the update. Or send the same request with the same key later: the answer is then that of the first request.',
  },
  'duplicate-work': {
    status: 409,
    title: 'The same work is already under way',
    meaning:
      'The same kind of update of the same project is running, or it is in doubt and may have run. Or it waits for approval until `until`, with the same payer. `update` names it.',
    counted: 'What that update holds; this request adds nothing.',
    toDo: 'Wait for that update. If it waits for approval, an approver can decide. If it is in doubt, a person can resolve it. Otherwise the project may be updated again when the day is over. Then ask with a new key.',
  },
  'ledger-restored': {
    status: 409,
    title: 'The restored ledger may lack an update of this project',
    meaning:
      'The ledger was restored from a backup a short while ago. The restore may have lost the record of an update of this project.',
    counted: recorded,
    toDo: 'Check at the service whether the update ran. To run it anyway, send `force` with a reason; an `Idempotency-Key` must then begin as `detail` says. Or ask again after `until` with a new key.',
  },
  'wrong-state': {
    status: 409,
    title: 'Not possible in the state that it is in',
    meaning:
      'The update, budget or plan is past the state that allows this, or has not reached it. `detail` says which; `retryAt`, if present, says when this is possible. Or an approval covers fewer units than the update needs, which are in `units`. Or an item of the ledger would be larger than DynamoDB takes, and `detail` says how an administrator makes room.',
    counted: changed,
    toDo: 'Read its present state. With `retryAt`, try again at that time. With `units`, approve at least that many.',
  },
  contradicted: {
    status: 409,
    title: 'The service lists other ids',
    meaning:
      'The service lists a project of the request under another id, or its id under another name. Or its list cannot be read now, and the request has a new id. Or an id is not digits, and the service does not list it. `errors` names each row.',
    counted: changed,
    toDo: 'Correct the rows: with another client’s id, that client’s project would run. If the rows are right as they are written, send `asWritten=true`, which does not allow an id that is not digits.',
  },
  'doubts-open': {
    status: 409,
    title: 'Updates in doubt that the figure has',
    meaning:
      'The vendor’s figure has each of these updates if it ran, because they were in doubt long enough before the figure. The book and the figure can be compared only if both speak of the same updates. `doubts` lists them.',
    counted: changed,
    toDo: 'Send the same with `doubts: "ran"`, or with an answer for each update. A person needs the scope `approve` for that. With an `asOf` in the past, resolve the updates first.',
  },
  'precondition-failed': {
    status: 412,
    title: 'The definitions have changed meanwhile',
    meaning: 'The definitions have changed since the answer whose `ETag` was sent as `If-Match`.',
    counted: changed,
    toDo: 'Read them again, decide again, and send the new `ETag`.',
  },
  'too-large': {
    status: 413,
    title: 'The body is too large',
    meaning: 'The body is larger than 256 KiB.',
    counted: nothing,
    toDo: 'Send less at once.',
  },
  'unsupported-media-type': {
    status: 415,
    title: 'The body is not JSON',
    meaning: 'The body must be JSON, not compressed.',
    counted: nothing,
    toDo: 'Send `Content-Type: application/json`, and no `Content-Encoding`.',
  },
  'key-reused': {
    status: 422,
    title: 'The idempotency key belongs to another request',
    meaning: 'This idempotency key was used before, for a request with other content.',
    counted: 'Nothing more: the answer to the first request stands.',
    toDo: 'Use a new key for each new request, and the same one only to send the same request again.',
  },
  'too-many-requests': {
    status: 429,
    title: 'Too many requests',
    meaning:
      'This caller makes more requests in a minute than an administrator has set for them, or more than ten audits and exports, which read every record of months.',
    counted: nothing,
    toDo: 'Wait as long as `Retry-After` says. If it happens often, something is in a loop.',
  },
  ...serverProblems,
} as const satisfies Record<string, ProblemType>

export type Slug = keyof typeof problems

export function describe(slug: string): ProblemType {
  return Object.hasOwn(problems, slug) ? problems[slug as Slug] : problems.internal
}
