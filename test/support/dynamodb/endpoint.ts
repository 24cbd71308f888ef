import { inject } from 'vitest'

let endpoint: Promise<string> | undefined

/** The address of DynamoDB Local, which starts when the first test of a run asks for it. */
export function dynamodb(): Promise<string> {
  endpoint ??= ask()
  return endpoint
}

async function ask(): Promise<string> {
  const answer = await fetch(inject('dynamodb') ?? '')
  const text = await answer.text()
  if (!answer.ok) throw new Error(text)
  return text
}
