/** Slack's answers are one word; whatever is longer is not Slack's. */
const mostBytes = 4_096

/**
 * The first bytes of an answer, as text. What comes after them is not waited for; an answer that breaks off is as long
 * as it is, because its status has said everything already.
 */
export async function readOpening(answer: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let length = 0
  try {
    for await (const chunk of answer.body ?? []) {
      chunks.push(chunk)
      length += chunk.length
      if (length >= mostBytes) break
    }
  } catch {
    // The deadline, or the connection.
  }
  return new TextDecoder().decode(Buffer.concat(chunks).subarray(0, mostBytes))
}
