/** The longest delay of a timer; setTimeout turns a longer one into one millisecond. */
const maxTimeoutMs = 2 ** 31 - 1

/**
 * Runs `use` with a signal that aborts after `timeoutMs`, in real time: it ends real sockets. The timer never outlives
 * the call.
 *
 * @throws RangeError when no timer can be set to `timeoutMs`; nothing was started.
 */
export async function withDeadline<T>(timeoutMs: number, use: (deadline: AbortSignal) => Promise<T>): Promise<T> {
  if (!(timeoutMs >= 1 && timeoutMs <= maxTimeoutMs)) throw new RangeError(`not a timeout: ${timeoutMs} ms`)
  const controller = new AbortController()
  const timer = setTimeout(() => controller.abort(), timeoutMs)
  try {
    return await use(controller.signal)
  } finally {
    clearTimeout(timer)
  }
}
