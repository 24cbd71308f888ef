import * as z from 'zod/mini'
import { type Secret, SecretUnavailable } from '../platform/secrets.ts'

export interface SlackSecret {
  readonly signingSecret: string
  /** `null`: announcements are only logged. */
  readonly webhookUrl: string | null
  /** `null`: the webhook is used. */
  readonly botToken: string | null
}

const secretSchema = z.object({
  signingSecret: z.string().check(z.minLength(1)),
  webhookUrl: z.optional(z.string()),
  botToken: z.optional(z.string()),
})

/** @throws SecretUnavailable */
export async function readSlackSecret(secret: Secret): Promise<SlackSecret> {
  const { current } = await secret.read()
  try {
    const { signingSecret, webhookUrl, botToken } = secretSchema.parse(JSON.parse(current))
    return { signingSecret, webhookUrl: webhookUrl || null, botToken: botToken || null }
  } catch {
    // The original error would show part of the secret.
    throw new SecretUnavailable(
      'slack',
      new Error('the Slack secret is not {"signingSecret": …, "webhookUrl": …, "botToken": …}'),
    )
  }
}
