/**
 * Tells when whoever asked goes away. An AbortSignal is one; where there is something lighter, it need not be: making a
 * signal and listening to it takes twice as long as the log line of a request.
 */
export interface Leaving {
  readonly aborted: boolean
  addEventListener(type: 'abort', act: () => void): void
  removeEventListener(type: 'abort', act: () => void): void
}
