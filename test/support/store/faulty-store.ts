import { createDynamoStore } from '../../../shared/ledger/store/dynamo-store.ts'
import { systemIds } from '../../../shared/platform/ids.ts'
import { createPassingClock } from '../clock.ts'
import { createLocalTable } from './stores.ts'

export interface SentRequest {
  readonly command: string
  // biome-ignore lint/suspicious/noExplicitAny: the input of whatever command it is.
  readonly input: any
}

export type Fault =
  /** The request fails before it is sent. */
  | 'not-sent'
  /** The request is applied, and its answer is lost. */
  | 'answer-lost'
  | 'conflict'
  | 'throttled'
  | 'timeout'
  | 'unknown-error'
  | 'access-denied'

/**
 * The real store behind a middleware that injects faults of networks and DynamoDB, and counts requests. DynamoDB Local never raises a
 * conflict.
 */
export async function createFaultyStore(clock = createPassingClock()) {
  const { client, table } = await createLocalTable()
  const requests: SentRequest[] = []
  const plans: { matches: (request: SentRequest) => boolean; faults: Fault[] }[] = []

  const inputs = new WeakMap<object, object>()
  client.middlewareStack.add(
    (next, context) => (args) => {
      inputs.set(context, args.input)
      return next(args)
    },
    { step: 'initialize', name: 'inputs' },
  )
  client.middlewareStack.add(
    (next, context) => async (args) => {
      const command = String(context.commandName).replace(/Command$/, '')
      const request = { command, input: inputs.get(context) }
      requests.push(request)
      const fault = plans.find((plan) => plan.faults.length > 0 && plan.matches(request))?.faults.shift()
      if (fault && fault !== 'answer-lost') throw errorOf(fault)
      const answer = await next(args)
      if (fault) throw errorOf('not-sent')
      return answer
    },
    { step: 'finalizeRequest', name: 'faults', priority: 'low' },
  )

  const store = createDynamoStore({ client, table, clock, ids: systemIds })
  return {
    store,
    requests,
    /** Injects one fault into each of the next matching requests. */
    fail: (matches: (request: SentRequest) => boolean, ...faults: Fault[]) => void plans.unshift({ matches, faults }),
    heal: () => void plans.splice(0),
  }
}

function errorOf(fault: Fault): Error {
  switch (fault) {
    case 'conflict':
      return Object.assign(new Error('cancelled'), {
        name: 'TransactionCanceledException',
        CancellationReasons: [{ Code: 'TransactionConflict' }, { Code: 'None' }, { Code: 'None' }],
      })
    case 'throttled':
      return Object.assign(new Error('slow down'), { name: 'ThrottlingException' })
    case 'timeout':
      return Object.assign(new Error('no answer in time'), { name: 'TimeoutError' })
    case 'unknown-error':
      return Object.assign(new Error('what is this'), { name: 'NeverHeardOfItException' })
    case 'access-denied':
      return Object.assign(new Error('not allowed'), { name: 'AccessDeniedException' })
    default:
      return Object.assign(new Error('read ECONNRESET'), { name: 'Error', code: 'ECONNRESET' })
  }
}

export const itemsOf = ({ input }: SentRequest): number => input.TransactItems?.length ?? 0

export const isHold = (request: SentRequest): boolean =>
  request.command === 'TransactWriteItems' && itemsOf(request) === 3
export const isSettle = (request: SentRequest): boolean =>
  request.command === 'TransactWriteItems' &&
  itemsOf(request) === 2 &&
  JSON.stringify(request.input).includes('"settled"')
