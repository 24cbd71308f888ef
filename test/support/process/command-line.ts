import { readOrExit } from '../../../infra/local/commands/command.ts'

export const say = (line: string) => process.stdout.write(`${line}\n`)

/** Each option has a value. `--help` and wrong usage end the process. */
export function readOptions<Name extends string>(usage: string, defaults: Readonly<Record<Name, string>>) {
  const flags = Object.fromEntries(Object.keys(defaults).map((name) => [name, { type: 'string' } as const]))
  return { ...defaults, ...readOrExit({ usage, flags }).flags }
}
