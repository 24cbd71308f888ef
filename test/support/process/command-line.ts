import { parseArgs } from 'node:util'

export const say = (line: string) => process.stdout.write(`${line}\n`)

/** Each option has a value; `--help` prints the usage and ends the process. */
export function readOptions<Name extends string>(usage: string, defaults: Readonly<Record<Name, string>>) {
  const options = Object.fromEntries(
    Object.entries<string>(defaults).map(([name, value]) => [name, { type: 'string', default: value } as const]),
  )
  const { values } = parseArgs({ options: { ...options, help: { type: 'boolean' } } })
  if (values.help) {
    say(usage)
    process.exit(0)
  }
  return { ...defaults, ...values }
}
