import { logContext } from './log-context.ts'

/** One JSON line per event, of named fields. Never a whole event, body or header: those may carry secrets. */
export interface Log {
  info(event: string, fields?: Fields): void
  /** For what a person should look at; alarms count these. */
  error(event: string, fields?: Fields): void
  /** From now on `secret` appears in no line. */
  hide(secret: string): void
}

type Fields = Readonly<Record<string, unknown>>

const lineLimit = 8_192
/** Escaping may double it. */
const cutLength = 4_000
const shortestSecret = 8

export function createLog(options: { write(line: string): void; now(): number }): Log {
  /** As JSON shows them; the longest first, because a secret may begin with another one. */
  let hidden: readonly string[] = []
  const line = (level: 'info' | 'error', event: string, fields: Fields = {}) => {
    const at = new Date(options.now()).toISOString()
    const context = logContext()
    const requestId = context?.requestId
    const lambdaRequestId = context?.lambdaRequestId
    // One literal: two spreads into one object cost more than all the rest of a line.
    const text = redact(toJson({ at, level, event, requestId, lambdaRequestId, ...fields }), hidden)
    // A line that is cut in the middle is no JSON, and alarms read JSON.
    const cut = () => ({ at, level, event, requestId, lambdaRequestId, cut: text.slice(0, cutLength) })
    options.write(text.length <= lineLimit ? text : JSON.stringify(cut()))
  }
  return {
    info: (event, fields) => line('info', event, fields),
    error: (event, fields) => line('error', event, fields),
    hide: (secret) => {
      const shown = JSON.stringify(secret).slice(1, -1)
      if (secret.length < shortestSecret || hidden.includes(shown)) return
      hidden = [...hidden, shown].sort((a, b) => b.length - a.length)
    },
  }
}

/** Logging never fails: what JSON cannot show (a circle of causes) is left out, and plain fields stay. */
function toJson(fields: Fields): string {
  try {
    const isFlat = Object.values(fields).every((value) => typeof value !== 'object')
    return JSON.stringify(fields, isFlat ? undefined : plain)
  } catch (error) {
    const shown = Object.entries(fields).filter(([, value]) => ['string', 'number', 'boolean'].includes(typeof value))
    return JSON.stringify({ ...Object.fromEntries(shown), notShown: String(error) })
  }
}

/** An Error has no enumerable fields, so JSON would show `{}`; its stack stays in the log and nowhere else. */
const plain = (_key: string, value: unknown) =>
  value instanceof Error ? { name: value.name, message: value.message, stack: value.stack, cause: value.cause } : value

const jwtLike = /eyJ[\w-]{5,}\.[\w-]{2,}\.[\w-]*/g
const bearer = /(bearer\s+)[^\s"\\]+/gi

function redact(text: string, hidden: readonly string[]): string {
  let redacted = text
  for (const secret of hidden) redacted = redacted.replaceAll(secret, '[redacted]')
  return redacted.replace(jwtLike, '[redacted]').replace(bearer, '$1[redacted]')
}
