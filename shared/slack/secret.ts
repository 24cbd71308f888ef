import * as z from 'zod/mini'
import { type Secret, SecretUnavailable } from '../platform/secrets.ts'

/** What Slack and Unit Guard share: one secret, because both halves are made in the same minute by the same person. */
export interface SlackSecret {
  /** The app's signing secret: who has it, is Slack. */
  readonly signingSecret: string
  /** The incoming webhook that announcements go to; without one they are only logged. */
  readonly webhookUrl: string | null
}

const stored = z.object({ signingSecret: z.string().check(z.minLength(1)), webhookUrl: z.optional(z.string()) })

/** @throws SecretUnavailable when it cannot be read, or is not the JSON that the install guide describes. */
export async function readSlackSecret(secret: Secret): Promise<SlackSecret> {
  const { current } = await secret.read()
  try {
    const { signingSecret, webhookUrl } = stored.parse(JSON.parse(current))
    return { signingSecret, webhookUrl: webhookUrl || null }
  } catch {
    // The cause would show a part of the secret.
    throw new SecretUnavailable('slack', new Error('the Slack secret is not {"signingSecret": …, "webhookUrl": …}'))
  }
}
