import * as z from 'zod/mini'
import { allFaults, type Fault, textFaults } from '../platform/faults.ts'
import { isLoopback } from '../platform/http.ts'
import { isObject, type Json, parseStrictJson, placeIn } from '../platform/json.ts'
import { readSettingsFile } from '../platform/settings-file.ts'
import { isRefusedHost } from './addresses.ts'
import { eventTypes, passes } from './types.ts'

/** Another system that gets events over HTTPS. */
export interface WebhookTarget {
  readonly kind: 'webhook'
  readonly name: string
  readonly url: string
  /** Its name in Secrets Manager. */
  readonly secret: string
  /** Such as `update.settled` or `budget.*`. */
  readonly types: readonly string[]
}

/** An event bus of EventBridge. */
export interface BusTarget {
  readonly kind: 'bus'
  readonly name: 'bus'
  readonly bus: string
  readonly types: readonly string[]
}

export type Target = WebhookTarget | BusTarget

/** The message names every fault by target and field. */
export class WrongTargets extends Error {
  override readonly name = 'WrongTargets'
}

const maxTargets = 5
const maxUrlLength = 1_000
const busName = 'bus'

const takesName = 'must have 1 to 31 of a-z, 0-9 and -, beginning with a letter'
const name = z.string(takesName).check(
  z.regex(/^[a-z][a-z0-9-]{0,30}$/, takesName),
  z.refine((text) => text !== busName, `must not be ${busName}, which is EVENT_BUS`),
)

const takesUrl = 'must be an https address without credentials, or http to this machine'
const url = z.string(takesUrl).check(
  z.maxLength(maxUrlLength, `must have at most ${maxUrlLength} characters`),
  z.refine(isUrl, takesUrl),
  z.refine((text) => !URL.canParse(text) || !isRefusedHost(new URL(text).hostname), 'must not be a private address'),
)

function isUrl(text: string): boolean {
  if (!URL.canParse(text) || /[#\s]/.test(text)) return false
  const { protocol, hostname, username, password } = new URL(text)
  if (username !== '' || password !== '') return false
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname))
}

/** No other secret may become the key of a signature. */
const takesSecret = 'must be the name of a secret, unit-guard/events/ (or your prefix) and 1 to 31 of a-z, 0-9 and -'
const secret = z
  .string(takesSecret)
  .check(z.regex(/^[a-z](-?[a-z0-9]){0,23}\/events\/[a-z][a-z0-9-]{0,30}$/, takesSecret))

const takesType = 'must be the type of an event, such as update.settled, or update.*'
const types = z
  .array(z.string(takesType).check(z.refine(isFilter, takesType)), 'must be a list of types of events')
  .check(z.minLength(1, 'must name a type'), z.maxLength(eventTypes.length, 'has too many types'))

/** A misspelt type would never match. */
function isFilter(text: string): boolean {
  return /^[a-z]+\.(\*|[a-z-]+)$/.test(text) && eventTypes.some((type) => passes([text], type))
}

const targetsFile = z
  .array(z.strictObject({ name, url, secret, types }), 'must be a list of targets')
  .check(z.maxLength(maxTargets, `must have at most ${maxTargets} targets`))

/**
 * Parses the file of event targets, a JSON list.
 *
 * @throws WrongTargets with all faults.
 */
export function parseTargets(text: string): readonly WebhookTarget[] {
  const read = parseStrictJson(text)
  if (!read.ok) throw new WrongTargets(`it is not valid, unambiguous JSON: ${read.reason}${placeIn(text)}`)
  const parsed = targetsFile.safeParse(read.value)
  const faults = allFaults([...textFaults(read.value), ...repeatedNames(read.value)], parsed.error?.issues)
  if (parsed.success && faults.length === 0) return parsed.data.map((row) => ({ kind: 'webhook', ...row }))
  throw new WrongTargets(faults.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`)).join('; '))
}

function repeatedNames(file: Json): Fault[] {
  const names = (Array.isArray(file) ? file : []).map((row) => (isObject(row) ? row.name : undefined))
  return names.flatMap((each, index) => {
    const first = names.indexOf(each)
    return typeof each !== 'string' || first === index
      ? []
      : [{ path: `${index}.name`, message: `is the name of entry ${first} too` }]
  })
}

export interface EventSettings {
  readonly EVENT_TARGETS?: string | undefined
  readonly EVENT_BUS?: string | undefined
}

/**
 * The targets of the file, then the bus.
 *
 * @throws WrongTargets also if the file cannot be read. Messages show only the file's base name.
 */
export function readTargets({ EVENT_TARGETS: path, EVENT_BUS: bus }: EventSettings): readonly Target[] {
  const all: BusTarget[] = bus === undefined ? [] : [{ kind: 'bus', name: busName, bus, types: everyType }]
  if (path === undefined) return all
  const wrong = (message: string, options?: ErrorOptions) => new WrongTargets(message, options)
  const { text, file } = readSettingsFile(path, 'targets file', wrong)
  try {
    return [...parseTargets(text), ...all]
  } catch (error) {
    throw error instanceof WrongTargets ? wrong(`the targets file ${file}: ${error.message}`) : error
  }
}

const everyType = [...new Set(eventTypes.map((type) => type.replace(/\..*/, '.*')))]
