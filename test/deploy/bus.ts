import { CreateEventBusCommand, DeleteEventBusCommand, EventBridgeClient } from '@aws-sdk/client-eventbridge'
import { region } from './aws.ts'
import { retained } from './guard.ts'
import { step, until } from './steps.ts'
import { bus } from './where.ts'

const client = new EventBridgeClient({ region })

export async function createBus(): Promise<void> {
  retained.buses.add(bus)
  await client.send(new CreateEventBusCommand({ Name: bus }))
}

export async function deleteBus(Name: string): Promise<void> {
  await client.send(new DeleteEventBusCommand({ Name }))
}

/** @param listEvents prints the output of `npm run events`. */
export async function rehearseBus(listEvents: () => Promise<string>): Promise<void> {
  await step('events: those of an update are put on a bus', () =>
    until(async () => /last delivery {2}\d/.test(await listEvents())),
  )
}
