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
const shortestSecret = 8

export function createLog(options: { write(line: string): void; now(): number }): Log {
  const hidden = new Set<string>()
  const line = (level: 'info' | 'error', event: string, fields: Fields = {}) => {
    const text = JSON.stringify({ at: new Date(options.now()).toISOString(), level, event, ...fields }, plain)
    options.write(redact(text, hidden).slice(0, lineLimit))
  }
  return {
    info: (event, fields) => line('info', event, fields),
    error: (event, fields) => line('error', event, fields),
    hide: (secret) => {
      if (secret.length >= shortestSecret) hidden.add(secret)
    },
  }
}

/** An Error has no enumerable fields, so JSON would show `{}`; its stack stays in the log and nowhere else. */
const plain = (_key: string, value: unknown) =>
  value instanceof Error ? { name: value.name, message: value.message, stack: value.stack, cause: value.cause } : value

const jwtLike = /eyJ[\w-]{5,}\.[\w-]{2,}\.[\w-]*/g
const bearer = /(bearer\s+)[^\s"\\]+/gi

function redact(text: string, hidden: ReadonlySet<string>): string {
  let redacted = text
  for (const secret of hidden) redacted = redacted.replaceAll(JSON.stringify(secret).slice(1, -1), '[redacted]')
  return redacted.replace(jwtLike, '[redacted]').replace(bearer, '$1[redacted]')
}
