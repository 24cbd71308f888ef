import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../../../shared/platform/log.ts'
import { followTable } from '../../support/dynamodb/stream.ts'
import { accessKeyOf, type Rehearsal } from '../rehearsal.ts'
import { createStreamPoller } from './stream-poller.ts'

const retryAfterMs = 50
const silent: Log = { info: () => {}, error: () => {}, hide: () => {} }

/** The callers of functions on AWS beside their URLs: the mappings of the stream, and the rules. */
export async function startEventSources({ aws, template, fleetOf, ledger }: Rehearsal) {
  const { endpoint } = aws
  /** Lambda sends a discarded event with the role of the function. */
  const discard = async (role: string, queue: string, body: object): Promise<void> => {
    const sent = await fetch(endpoint, {
      method: 'POST',
      headers: { 'x-amz-target': 'AmazonSQS.SendMessage', authorization: `Credential=${accessKeyOf(role)}/0/local` },
      body: JSON.stringify({ QueueUrl: queue, MessageBody: JSON.stringify(body) }),
    })
    if (!sent.ok) throw new Error(await sent.text())
  }

  const pollers = template.mappings().map(({ functionId, properties }) => {
    const { name } = fleetOf(functionId)
    const poller = createStreamPoller(properties, {
      call: (event) => fleetOf(functionId).call(event),
      discard: (queue, Records) => discard(name, queue, { Records }),
    })
    return { ...poller, name }
  })
  const followings = await Promise.all(
    pollers.map(({ take, name }) =>
      followTable({ endpoint, accessKey: accessKeyOf(name), table: ledger.name }, { take, log: silent }),
    ),
  )

  return {
    isIdle: () => pollers.every((poller) => poller.isIdle()),
    /** Sends the event of a rule as EventBridge does. Lambda calls the function until it succeeds or gives up. */
    async fire(ruleName: string, time = new Date()): Promise<void> {
      const rule = template.rules().find(({ name }) => name === ruleName)
      if (!rule) throw new Error(`the template has no rule ${ruleName}`)
      const { call, name } = fleetOf(rule.functionId)
      const { properties } = template.asyncCalls().find(({ functionId }) => functionId === rule.functionId) ?? {}
      const event = eventOf(rule.target, `${time.toISOString().slice(0, 19)}Z`)
      for (let retries = 0; ; retries++) {
        try {
          return void (await call(event))
        } catch {
          if (retries === properties.MaximumRetryAttempts)
            return discard(name, properties.DestinationConfig.OnFailure.Destination, event)
          await sleep(retryAfterMs)
        }
      }
    },
    stop: () => Promise.all(followings.map(({ stop }) => stop(Promise.resolve()))),
  }
}

interface Target {
  readonly Input?: string
  readonly InputTransformer?: {
    readonly InputPathsMap: Readonly<Record<string, string>>
    readonly InputTemplate: string
  }
}

/** @see https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-transform-target-input.html */
function eventOf({ Input, InputTransformer }: Target, time: string): object {
  if (Input !== undefined) return JSON.parse(Input)
  const { InputPathsMap = {}, InputTemplate = '' } = InputTransformer ?? {}
  const filled = Object.entries(InputPathsMap).reduce((template, [name, path]) => {
    if (path !== '$.time') throw new Error(`the rehearsal does not know ${path} of an event`)
    return template.replaceAll(`<${name}>`, JSON.stringify(time))
  }, InputTemplate)
  return JSON.parse(filled)
}
