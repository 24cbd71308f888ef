import type { Guard } from '../../guard/guard.ts'
import type { Troubles } from '../../guard/troubles/troubles.ts'
import { reportsOf } from '../../reports/reports.ts'
import type { Message } from '../blocks.ts'
import { digestMessage } from './figure-messages.ts'

interface DigestParts {
  readonly guard: Guard
  readonly troubles: Pick<Troubles, 'read'>
  readonly dashboardUrl?: string | null
}

/** @param until the time of the announcement. */
export async function digestOf({ guard, troubles, dashboardUrl = null }: DigestParts, until: number): Promise<Message> {
  const { digest } = await reportsOf(guard)
  return digestMessage({ ...(await digest(until)), troubles: await troubles.read(), dashboardUrl })
}
