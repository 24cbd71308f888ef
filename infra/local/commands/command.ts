import { type ParseArgsConfig, parseArgs } from 'node:util'
import { instant } from '../../../shared/api/schemas.ts'
import { WrongPlans } from '../../../shared/guard/plans/plans-file.ts'
import { WrongLedger } from '../../../shared/ledger/identity.ts'
import { dayMs, hourMs, minuteMs } from '../../../shared/platform/clock.ts'
import { environment, WrongSettings } from '../../../shared/platform/settings.ts'
import { readEnvFile, withoutFound } from '../data-directory.ts'
import { CannotContinue } from '../failures.ts'
import { directoryOf, type Environment } from '../settings.ts'

// The AWS SDK warns at each start that it will need a newer Node, which does not help the user of one machine.
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED = 'true'

/** What was typed is not what the command takes. */
export class WrongUsage extends Error {
  override readonly name = 'WrongUsage'
}

const exitCodes = { done: 0, failed: 1, wrongUsage: 2 } as const

type Flags = NonNullable<ParseArgsConfig['options']>
type Given<F extends Flags> = { readonly [Name in keyof F]?: string }

/**
 * One command of `npm run`: its flags, all of which take a value, what else it takes, its help, and how it ends. What
 * `run` answers is whether all is well.
 *
 * @param takes what has to stand there without a flag, as the help names it, or may, in brackets; `run` gets one text for
 * each that is there.
 *
 * Exit codes: 0 all is well, 1 something is not (one line on standard error says what), 2 wrong usage.
 */
export async function command<F extends Flags>(
  usage: string,
  flags: F,
  run: (given: Given<F>, ...texts: string[]) => Promise<boolean>,
  takes: readonly string[] = [],
): Promise<never> {
  try {
    const given = readArguments(flags, takes)
    if (given === 'help') return help(usage)
    process.exit((await run(given.flags, ...given.texts)) ? exitCodes.done : exitCodes.failed)
  } catch (error) {
    if (error instanceof WrongUsage) return refuse(usage, error)
    const isPlain = [CannotContinue, WrongSettings, WrongPlans, WrongLedger].some((plain) => error instanceof plain)
    console.error(isPlain && error instanceof Error ? error.message : error)
    if (error instanceof WrongSettings) console.error('Start Unit Guard first (npm start), or set them.')
    process.exit(exitCodes.failed)
  }
}

/** For a command that runs until it is stopped and takes no arguments: an argument would have no effect. */
export function takeNothing(usage: string): void {
  try {
    if (readArguments({}, []) === 'help') help(usage)
  } catch (error) {
    if (error instanceof WrongUsage) refuse(usage, error)
    throw error
  }
}

function help(usage: string): never {
  console.log(usage)
  process.exit(exitCodes.done)
}

function refuse(usage: string, { message }: WrongUsage): never {
  console.error(`${message}\n\n${usage}`)
  process.exit(exitCodes.wrongUsage)
}

interface Arguments<F extends Flags> {
  readonly flags: Given<F>
  readonly texts: readonly string[]
}

function readArguments<F extends Flags>(flags: F, takes: readonly string[]): Arguments<F> | 'help' {
  const parsed = parse(flags, takes)
  if ('help' in parsed.values) return 'help'
  const texts = parsed.positionals
  const missing = takes[texts.length]
  if (missing !== undefined && !missing.startsWith('[')) throw new WrongUsage(`${missing} is needed`)
  if (texts.length > takes.length) throw new WrongUsage(`Unexpected argument '${texts[takes.length]}'`)
  return { flags: parsed.values as Given<F>, texts }
}

function parse(flags: Flags, takes: readonly string[]) {
  const options = { ...flags, help: { type: 'boolean', short: 'h' } } as const
  try {
    const parsed = parseArgs({ options, strict: true, allowPositionals: takes.length > 0, tokens: true })
    const names = parsed.tokens.flatMap((token) => (token.kind === 'option' ? [token.name] : []))
    // The last one would count, and the others would be ignored without a word.
    const repeated = names.find((name, at) => names.indexOf(name) < at)
    if (repeated === undefined) return parsed
    throw new WrongUsage(`--${repeated} was given more than once`)
  } catch (error) {
    if (error instanceof WrongUsage) throw error
    throw new WrongUsage(error instanceof Error ? (error.message.split('. ')[0] ?? '') : 'unknown flags')
  }
}

/**
 * What `npm start` has written down, and on top of it the environment: a variable that is set wins, also when it is
 * empty. So a command uses AWS on a machine that has an env file: `SECRETS_ENDPOINT= npm run …`. A shell
 * that has sourced the file of one directory goes on with that one; and its token is shown to no other guard.
 */
export function commandEnvironment(all: Environment = environment()): Environment {
  const given = withoutFound(all)
  const { UNIT_GUARD_TOKEN: token, ...written } = readEnvFile(directoryOf(given))
  const isElsewhere = given.UNIT_GUARD_URL !== undefined && given.UNIT_GUARD_URL !== written.UNIT_GUARD_URL
  return { ...written, ...(token !== undefined && !isElsewhere && { UNIT_GUARD_TOKEN: token }), ...given }
}

/** A ledger in the memory of `npm start` cannot be reached from outside. */
export const isInMemory = (env: Environment): boolean => env.LEDGER === 'memory' && !env.DYNAMODB_ENDPOINT

/** The letters behind a number of minutes, hours or days, as commands take them: 30m, 8h, 7d. */
export const unitMs = { m: minuteMs, h: hourMs, d: dayMs } as const

/** Milliseconds since the epoch of a time in RFC 3339, as the API takes it; `null` if not valid, such as 30 February. */
export function parseInstant(text: string): number | null {
  const parsed = instant.safeParse(text)
  return parsed.success ? parsed.data : null
}
