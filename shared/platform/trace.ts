const form = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/

/**
 * `undefined`: absent or malformed. A later version becomes version 00, with the only flag that all versions have.
 * @see https://www.w3.org/TR/trace-context/#traceparent-header
 */
export function readTraceparent(header: string | undefined): string | undefined {
  const [, version, trace = '', parent = '', flags = '', rest] = form.exec(header ?? '') ?? []
  if (version === undefined || version === 'ff' || isZero(trace) || isZero(parent)) return undefined
  if (version === '00') return rest === undefined ? header : undefined
  const isSampled = (Number.parseInt(flags, 16) & 1) === 1
  return `00-${trace}-${parent}-${isSampled ? '01' : '00'}`
}

const isZero = (id: string): boolean => /^0*$/.test(id)
