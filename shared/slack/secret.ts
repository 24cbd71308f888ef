import * as z from 'zod/mini'
import { type Secret, SecretUnavailable } from '../platform/secrets.ts'

export interface SlackSecret {
  /** Proves that a request comes from Slack. */
  readonly signingSecret: string
  /** The incoming webhook for announcements; without it they are only logged. */
  readonly webhookUrl: string | null
}

const stored = z.object({ signingSecret: z.string().check(z.minLength(1)), webhookUrl: z.optional(z.string()) })

/** @throws SecretUnavailable when it cannot be read, or is not the JSON of the install guide. */
export async function readSlackSecret(secret: Secret): Promise<SlackSecret> {
  const { current } = await secret.read()
  try {
    const { signingSecret, webhookUrl } = stored.parse(JSON.parse(current))
    return { signingSecret, webhookUrl: webhookUrl || null }
  } catch {
    // The cause would show part of the secret.
    throw new SecretUnavailable('slack', new Error('the Slack secret is not {"signingSecret": …, "webhookUrl": …}'))
  }
}
