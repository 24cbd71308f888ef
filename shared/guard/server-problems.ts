import { anyOf, productKinds } from '../tracking/kinds.ts'
import { nothing, type ProblemType } from './problem-type.ts'

const givenBack = 'Nothing in the end: what was held has been given back, because the update provably did not run.'
const estimatePointers = Object.values(productKinds).map(({ settings }) => `\`${settings.estimatePointer}\``)

/** The rows of problems with a status of 5xx: the service, the ledger, or the guard itself. */
export const serverProblems = {
  'estimate-unreadable': {
    status: 502,
    title: 'No units could be read from the estimate',
    meaning:
      'The service answered the estimate, but no single number of units could be read in it, or the answer has a sign of failure, so nothing may be run. `shape` shows the structure of the answer without its values.',
    counted: 'Nothing: an estimate is free, and nothing was recorded under the idempotency key.',
    toDo: `\`detail\` says why. If the figure is in \`shape\`, an operator of the guard sets ${anyOf(estimatePointers)}; \`npm run doctor\` helps. Then send the same request again.`,
  },
  'service-refused': {
    status: 502,
    title: 'The service refused',
    meaning: 'The service refused the request with the status `serviceStatus`. The update is known not to have run.',
    counted: givenBack,
    toDo: 'Do what `detail` suggests: 404 is usually a misspelt project, 401 a token of the guard that its operator has to renew. If the answer has `updates`, ask again with a new key. Otherwise the same key may be used.',
  },
  'service-unreachable': {
    status: 502,
    title: 'The service could not be reached',
    meaning:
      'The service could not be reached, so nothing was sent to it. Through the gateway, this may also mean that its answer was incomplete or encoded.',
    counted: `${givenBack} A create or an update of a project through the gateway may have taken effect: \`detail\` says so.`,
    toDo: 'Send the request again later. If the answer has `updates`, use a new key. Otherwise the same key may be used.',
  },
  'ledger-unavailable': {
    status: 503,
    title: 'The ledger does not answer',
    meaning: 'The ledger does not answer, or a record that is needed is damaged, and without it nothing is decided.',
    counted: 'Nothing was sent to the service. If the ledger’s answer was lost, the same key finds what was recorded.',
    toDo: 'Send the same request again, with the same idempotency key. If a record is damaged, an operator restores it.',
  },
  undecided: {
    status: 503,
    title: 'The request could not be decided in time',
    meaning:
      'Other requests changed the same budget, record or definitions each time, until the time of this request was over.',
    counted: nothing,
    toDo: 'Send the same request again after `Retry-After` seconds, with the same idempotency key. If it happens often, fewer processes should ask at once.',
  },
  'identity-unavailable': {
    status: 503,
    title: 'The issuer of the token does not answer',
    meaning: 'The issuer of the token does not answer, and its keys are not known.',
    counted: nothing,
    toDo: 'Send the same request again, with the same idempotency key. If it lasts, an operator of the guard has to look at the issuer: `npm run doctor` checks it.',
  },
  'wrong-clock': {
    status: 503,
    title: 'Our clock and that of the service disagree',
    meaning:
      'The clock of the guard (`here`) and that of the service (`atService`) are more than five minutes apart, so days, limits and evidence would be counted wrongly.',
    counted: 'Nothing: an estimate is free, and nothing was recorded under the idempotency key.',
    toDo: 'An operator of the guard sets the clock that is wrong, usually by NTP. Then send the same request again.',
  },
  'secret-unavailable': {
    status: 503,
    title: 'A secret could not be read',
    meaning: 'A secret that this needs could not be read: the key of the callers’ tokens, or the service’s token.',
    counted: nothing,
    toDo: 'Send the same request again, with the same idempotency key. If it lasts, an operator of the guard has to look at the secret.',
  },
  internal: {
    status: 500,
    title: 'Something went wrong on our side',
    meaning: 'Something went wrong on our side. The cause is in the log, under the `requestId` of the answer.',
    counted: 'What was held stays counted until it is settled, released or resolved; nothing is sent twice.',
    toDo: 'Send the same request again, with the same idempotency key, and give an operator of the guard the `requestId`.',
  },
} as const satisfies Record<string, ProblemType>
