/** One message of an agent whose client has a revision before 2026-07-28, which is simple enough without an official client. */
export const agentMessage = (token: string, method: string, params: object = {}) => ({
  headers: {
    authorization: `Bearer ${token}`,
    accept: 'application/json, text/event-stream',
    'content-type': 'application/json',
  },
  body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
})

/** The result in an answer, which may be JSON or an event. */
export function agentResult(text: string) {
  const { result, error } = JSON.parse(/^data: (\{.*\})$/m.exec(text)?.[1] ?? text)
  return result ?? { error }
}
