import { CreateEventBusCommand, DeleteEventBusCommand, EventBridgeClient } from '@aws-sdk/client-eventbridge'
import { step, until } from './steps.ts'

/** Replaces a target, because no target has a public address here. */
export const bus = 'unit-guard-rehearsal'

export async function createBus(region: string): Promise<void> {
  await new EventBridgeClient({ region }).send(new CreateEventBusCommand({ Name: bus }))
}

export async function deleteBus(region: string): Promise<void> {
  await new EventBridgeClient({ region }).send(new DeleteEventBusCommand({ Name: bus }))
}

/** @param listEvents prints the output of `npm run events`. */
export async function rehearseBus(listEvents: () => Promise<string>): Promise<void> {
  await step('events: those of an update are put on a bus', () =>
    until(async () => /last delivery {2}\d/.test(await listEvents())),
  )
}
