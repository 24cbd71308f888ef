const answersWithinMs = 2_000

/** DynamoDB refuses an unsigned request with an error of its own, and numbers every answer. */
export async function isDynamoDb(endpoint: string): Promise<boolean> {
  try {
    const answer = await fetch(endpoint, { signal: AbortSignal.timeout(answersWithinMs) })
    await answer.arrayBuffer()
    return answer.headers.has('x-amzn-requestid')
  } catch {
    return false
  }
}
