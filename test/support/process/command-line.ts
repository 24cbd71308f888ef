import { type Flags, type Form, readArguments, tellFailure } from '../../../infra/local/commands/command.ts'

export const say = (line: string) => process.stdout.write(`${line}\n`)

/** `--help` and wrong usage end the process. */
export function readOrExit<const F extends Flags>(form: Form<F>) {
  try {
    const given = readArguments(form, process.argv.slice(2))
    if (given !== 'help') return given
    say(form.usage)
  } catch (error) {
    process.exit(tellFailure(error, form))
  }
  process.exit()
}

/** Each option has a value. */
export function readOptions<Name extends string>(usage: string, defaults: Readonly<Record<Name, string>>) {
  const flags = Object.fromEntries(Object.keys(defaults).map((name) => [name, { type: 'string' } as const]))
  return { ...defaults, ...readOrExit({ usage, flags }).flags }
}
