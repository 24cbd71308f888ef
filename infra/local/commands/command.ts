import { type ParseArgsConfig, parseArgs } from 'node:util'
import { instant } from '../../../shared/api/schemas.ts'
import { WrongPlans } from '../../../shared/guard/plans/plans-file.ts'
import { WrongLedger } from '../../../shared/ledger/identity.ts'
import { dayMs, hourMs, minuteMs } from '../../../shared/platform/clock.ts'
import { environment, WrongSettings } from '../../../shared/platform/settings.ts'
import { readEnvFile, withoutFound } from '../data-directory.ts'
import { CannotContinue } from '../failures.ts'
import { directoryOf, type Environment } from '../settings.ts'
import { createShutdown, type Shutdown } from '../shutdown.ts'

// Otherwise the AWS SDK warns at each start that it will need a newer Node.
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED = 'true'

export class WrongUsage extends Error {
  override readonly name = 'WrongUsage'
}

const exitCodes = { done: 0, failed: 1, wrongUsage: 2 } as const

type Flags = NonNullable<ParseArgsConfig['options']>
type Given<F extends Flags> = { readonly [Name in keyof F]?: string }

/**
 * Runs one command of `npm run`. Exit codes: 0 `run` returned true, 1 it returned false or failed, 2 wrong usage.
 *
 * @param takes names of the arguments without a flag, in brackets if optional; `run` gets one text for each.
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
    console.error(withoutStack(error))
    if (error instanceof WrongSettings) console.error('Start Unit Guard first (npm start), or set them.')
    process.exit(exitCodes.failed)
  }
}

export async function runUntilStopped(name: string, usage: string, start: (shutdown: Shutdown) => Promise<void>) {
  const shutdown = createShutdown()
  try {
    if (readArguments({}, []) === 'help') help(usage)
    // A closed terminal must not end running updates.
    for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
    shutdown.onSignal()
    await start(shutdown)
  } catch (error) {
    if (error instanceof WrongUsage) refuse(usage, error)
    console.error(`${name}:`, withoutStack(error))
    await shutdown.stop()
    process.exit(exitCodes.failed)
  }
}

/** Only the message, if the user can repair the fault. */
const withoutStack = (error: unknown): unknown =>
  error instanceof Error && plainErrors.some((plain) => error instanceof plain) ? error.message : error
const plainErrors = [CannotContinue, WrongSettings, WrongPlans, WrongLedger]

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
    // `parseArgs` ignores all but the last one.
    const repeated = names.find((name, at) => names.indexOf(name) < at)
    if (repeated === undefined) return parsed
    throw new WrongUsage(`--${repeated} was given more than once`)
  } catch (error) {
    if (error instanceof WrongUsage) throw error
    throw new WrongUsage(error instanceof Error ? (error.message.split('. ')[0] ?? '') : 'unknown flags')
  }
}

/**
 * The env file of `npm start`, overridden by the environment: an empty variable overrides too, so
 * `SECRETS_ENDPOINT= npm run …` uses AWS. The file's token is sent to no other guard.
 */
export function commandEnvironment(all: Environment = environment()): Environment {
  const given = withoutFound(all)
  const { UNIT_GUARD_TOKEN: token, ...written } = readEnvFile(directoryOf(given))
  const isElsewhere = given.UNIT_GUARD_URL !== undefined && given.UNIT_GUARD_URL !== written.UNIT_GUARD_URL
  return { ...written, ...(token !== undefined && !isElsewhere && { UNIT_GUARD_TOKEN: token }), ...given }
}

/** No other process reaches a ledger in the memory of `npm start`. */
export const isInMemory = (env: Environment): boolean => env.LEDGER === 'memory' && !env.DYNAMODB_ENDPOINT

export const unitMs = { m: minuteMs, h: hourMs, d: dayMs } as const

/** Milliseconds since the epoch of a time in RFC 3339. @throws WrongUsage for `flag` */
export function parseInstant(text: string, flag: string, example = '2026-11-20T09:00:00Z'): number {
  const parsed = instant.safeParse(text)
  if (!parsed.success) throw new WrongUsage(`${flag} must be a time such as ${example}`)
  return parsed.data
}
