import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { type ParseArgsConfig, parseArgs } from 'node:util'
import { instant } from '../../../shared/api/schemas.ts'
import { DamagedItem, LedgerUnavailable } from '../../../shared/ledger/errors.ts'
import { WrongLedger } from '../../../shared/ledger/identity.ts'
import { dayMs, hourMs, minuteMs } from '../../../shared/platform/clock.ts'
import { nearest } from '../../../shared/platform/misspelt.ts'
import { environment, WrongSettings } from '../../../shared/platform/settings.ts'
import { WrongFile } from '../../../shared/platform/settings-file.ts'
import { version } from '../../../shared/platform/version.ts'
import { withoutFound } from '../data-directory.ts'
import { CannotContinue, hintFor, reasonOf } from '../failures.ts'
import {
  defaultDirectory,
  directoryOf,
  type Environment,
  type LocalSettings,
  ledgerFile,
  readSettings,
} from '../settings.ts'

// Otherwise the AWS SDK warns at each start that it will need a newer Node.
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED = 'true'

/** The message is shown with the command for help. */
export class WrongUsage extends Error {
  override readonly name = 'WrongUsage'
}

const exitCodes = { done: 0, failed: 1, wrongUsage: 2 } as const

export type Flags = NonNullable<ParseArgsConfig['options']>
export type Given<F extends Flags> = {
  readonly [Name in keyof F]?: F[Name]['type'] extends 'boolean'
    ? boolean
    : F[Name] extends { multiple: true }
      ? readonly string[]
      : string
}

export interface Form<F extends Flags = Flags> {
  /** Begins with what the command does; indented lines show how to call it. */
  readonly usage: string
  readonly flags?: F
  /** Arguments without a flag, in brackets if optional. */
  readonly takes?: readonly string[]
}

/** Returns the exit code: 0 done, 1 failed, 2 wrong usage. @param load loads the one module of the command. */
export async function runCommand(
  form: Form,
  args: readonly string[],
  load: () => Promise<{ run(given: object, ...texts: string[]): Promise<unknown> }>,
): Promise<number> {
  if (args.includes('--version')) {
    console.log(version)
    return exitCodes.done
  }
  try {
    const given = readArguments(form, args)
    if (given === 'help') console.log(form.usage)
    else if ((await (await load()).run(given.flags, ...given.texts)) === false) return exitCodes.failed
    return exitCodes.done
  } catch (error) {
    return tellFailure(error, form)
  }
}

/** Returns the exit code. */
export function tellFailure(error: unknown, { usage }: Form): number {
  if (error instanceof WrongUsage) {
    console.error(`${error.message} (${helpOf(usage)})`)
    return exitCodes.wrongUsage
  }
  console.error((error instanceof WrongSettings && whereToStart(error)) || toSentence(error))
  return exitCodes.failed
}

const plainErrors = [CannotContinue, WrongSettings, WrongFile, WrongLedger]

function toSentence(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  if (plainErrors.some((plain) => error instanceof plain)) return error.message
  if (error instanceof DamagedItem)
    return `The ledger cannot be used, because ${error.message}: use the version that wrote it, or restore a backup (npm run restore -- from <file>; on AWS docs/deploy.md, "Restoring").`
  const reason = reasonOf(error)
  if (error instanceof LedgerUnavailable) return `The ledger does not answer: ${reason}${hintFor(reason) || '.'}`
  if (error.name === 'ResourceNotFoundException')
    return 'The table of the ledger is not there: check TABLE_NAME and DYNAMODB_ENDPOINT.'
  if ('$metadata' in error || /credentials|region is missing/i.test(reason)) return `AWS refuses: ${reason}`
  return 'syscall' in error ? `${reason}${hintFor(reason)}` : error
}

/** Reads settings that only this shell can have, so no error advises to start Unit Guard first. @throws CannotContinue */
export function readHere<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw error instanceof WrongSettings ? new CannotContinue(error.message) : error
  }
}

/** The settings of a process with a ledger of its own. @throws CannotContinue */
export function settingsHere(read: (env: Environment) => LocalSettings = readSettings): LocalSettings {
  const env = withoutFound(environment())
  if (env.DYNAMODB_ENDPOINT)
    throw new CannotContinue(
      'on one machine the ledger is a file in DATA_DIR: unset DYNAMODB_ENDPOINT (with it, commands would use a ledger in DynamoDB)',
    )
  return readHere(() => read(env))
}

/** Advice for settings that are missing because Unit Guard has not run with this folder, else `null`. */
function whereToStart({ message }: WrongSettings): string | null {
  const given = environment()
  const directory = directoryOf(withoutFound(given))
  const settings = [...message.matchAll(/\b([A-Z_]+): /g)].map(([, name = '']) => name)
  if (hasEnvFile(directory) || settings.some((name) => given[name])) return null
  const others = [defaultDirectory, ...foldersIn(defaultDirectory)].filter(hasEnvFile)
  const instead = others.length === 0 ? '' : `, set DATA_DIR to a folder where it ran (${others.join(', ')})`
  const how = existsSync(join(directory, ledgerFile)) ? 'npm run serve' : 'npm start or npm run serve'
  return `Unit Guard has not run with the folder ${directory}: start it first (${how})${instead}, or set ${settings.join(', ')}.`
}

const hasEnvFile = (directory: string): boolean => existsSync(join(directory, 'env'))

const foldersIn = (directory: string): string[] =>
  existsSync(directory) ? readdirSync(directory).map((name) => join(directory, name)) : []

/** The name of a command from its usage, such as `npm run plan`. */
const nameIn = (usage: string): string =>
  /^ {2}.*?((?:npm (?:start|run(?: --silent)?)|node run\.mjs) ?[\w:]*)/m.exec(usage)?.[1]?.trimEnd() ?? 'npm run help'

function helpOf(usage: string): string {
  const name = nameIn(usage)
  return name.startsWith('npm') ? `${name} -- --help` : `${name} --help`
}

interface Arguments<F extends Flags> {
  readonly flags: Given<F>
  readonly texts: readonly string[]
}

/** @throws WrongUsage */
export function readArguments<F extends Flags>(form: Form<F>, args: readonly string[]): Arguments<F> | 'help' {
  const { takes = [], flags } = form
  const options = { ...flags, help: { type: 'boolean', short: 'h' } } as const
  // Not strict, because the messages of `parseArgs` suggest no similar option.
  const parsed = parseArgs({ args: [...args], options, strict: false, allowPositionals: true, tokens: true })
  if (parsed.values.help) return 'help'
  const given = parsed.tokens.filter((token) => token.kind === 'option')
  for (const token of given) mustBeOption(form, token)
  const names = given.map(({ name }) => name)
  // `parseArgs` ignores all values but the last.
  const repeated = names.find((name, at) => !flags?.[name]?.multiple && names.indexOf(name) < at)
  if (repeated !== undefined) throw new WrongUsage(`--${repeated} was given more than once`)
  mustNotBeNpms(Object.keys(flags ?? {}).filter((name) => !names.includes(name)))
  const texts = parsed.positionals
  const missing = takes[texts.length]
  if (missing !== undefined && !missing.startsWith('[')) throw new WrongUsage(`${missing} is needed`)
  if (texts.length > takes.length) throw new WrongUsage(`One argument too many: '${texts[takes.length]}'`)
  return { flags: parsed.values as Given<F>, texts }
}

interface Option extends Readonly<Record<'name' | 'rawName', string>> {
  readonly value: string | undefined
  readonly inlineValue: boolean | undefined
}

function mustBeOption({ usage, flags = {} }: Form, { name, rawName, value, inlineValue }: Option): void {
  const type = Object.hasOwn(flags, name) ? flags[name]?.type : undefined
  if (type === undefined) throw new WrongUsage(noOption(usage, rawName, Object.keys(flags)))
  if (type === 'boolean' && value !== undefined) throw new WrongUsage(`${rawName} takes no value`)
  // A lone dash is the standard input.
  const isOtherOption = !inlineValue && value !== '-' && value?.startsWith('-')
  if (type === 'string' && (value === undefined || isOtherOption)) throw new WrongUsage(`${rawName} needs a value`)
}

function noOption(usage: string, typed: string, names: readonly string[]): string {
  const [setting] = /\b[A-Z_]+=\S+ npm (start|run \S+)/.exec(usage) ?? []
  if (setting !== undefined) return `There is no option ${typed}; settings come from the environment, as in ${setting}`
  if (names.length === 0) return `${nameIn(usage)} takes no options, so not ${typed}`
  const meant = nearest(typed.replace(/^-+/, ''), names)
  if (meant !== null) return `There is no option ${typed}; did you mean --${meant}?`
  return `There is no option ${typed}; there are ${names.map((name) => `--${name}`).join(', ')}`
}

/** In `npm run budgets apply x.csv --dry-run`, npm takes the option, and the command would apply the file. */
function mustNotBeNpms(names: readonly string[]): void {
  const env = environment()
  const taken = names.find((name) => env[`npm_config_${name.replaceAll('-', '_')}`])
  if (taken !== undefined) throw new WrongUsage(`npm kept --${taken} for itself: write -- before the options`)
}

/** @throws WrongUsage with the nearest choice */
export function mustBeOneOf<Choice extends string>(
  typed: string,
  choices: readonly Choice[],
  what = 'command',
): Choice {
  const known = choices.find((choice) => choice === typed)
  if (known === undefined) throw new WrongUsage(`There is ${noSuch(what, typed, choices)}`)
  return known
}

export function noSuch(what: string, typed: string, choices: readonly string[]): string {
  const meant = nearest(typed, choices)
  return `no ${what} '${typed}'; ${meant === null ? `say ${choices.join(' or ')}` : `did you mean ${meant}?`}`
}

const unitMs = { m: minuteMs, h: hourMs, d: dayMs } as const

/** Reads 30m, 8h or 7d. Returns `null` for other text. */
export function parseDuration(text: string): number | null {
  const [, count, unit] = /^(\d{1,6})([mhd])$/.exec(text) ?? []
  return count === undefined ? null : Number(count) * unitMs[unit as keyof typeof unitMs]
}

/** A time in RFC 3339. @throws WrongUsage for `flag` */
export function parseInstant(text: string, flag: string, example = '2026-11-20T09:00:00Z'): number {
  const parsed = instant.safeParse(text)
  if (!parsed.success) throw new WrongUsage(`${flag} must be a time such as ${example}`)
  return parsed.data
}
