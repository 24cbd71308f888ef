/** One message of an agent whose client has a revision before 2026-07-28: such clients need no official one to be written. */
export const agentMessage = (token: string, method: string, params: object = {}) => ({
  headers: {
    authorization: `Bearer ${token}`,
    accept: 'application/json, text/event-stream',
    'content-type': 'application/json',
  },
  body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
})

/** The result in an answer, which is JSON or an event. */
export function agentResult(text: string) {
  const { result, error } = JSON.parse(/^data: (\{.*\})$/m.exec(text)?.[1] ?? text)
  return result ?? { error }
}
