import * as z from 'zod/mini'
import { isLoopback } from '../platform/http.ts'
import { parseList, readSettingsFile } from '../platform/settings-file.ts'
import { isRefusedHost } from './addresses.ts'
import { eventTypes, passes } from './types.ts'

const maxTargets = 5
const maxUrlLength = 1_000

const nameFault = 'must have 1 to 31 of a-z, 0-9 and -, beginning with a letter'
const name = z.string(nameFault).check(z.regex(/^[a-z][a-z0-9-]{0,30}$/, nameFault))

const urlFault = 'must be an https address without credentials, or http to this machine'
const url = z.string(urlFault).check(
  z.maxLength(maxUrlLength, `must have at most ${maxUrlLength} characters`),
  z.refine(isUrl, urlFault),
  z.refine((text) => !URL.canParse(text) || !isRefusedHost(new URL(text).hostname), 'must not be a private address'),
)

function isUrl(text: string): boolean {
  if (!URL.canParse(text) || /[#\s]/.test(text)) return false
  const { protocol, hostname, username, password } = new URL(text)
  if (username !== '' || password !== '') return false
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname))
}

/** Only a secret with this prefix may become the key of a signature. */
const secretFault = 'must be the name of a secret, unit-guard/events/ (or your prefix) and 1 to 31 of a-z, 0-9 and -'
const secret = z
  .string(secretFault)
  .check(z.regex(/^[a-z](-?[a-z0-9]){0,23}\/events\/[a-z][a-z0-9-]{0,30}$/, secretFault))

const typeFault = 'must be the type of an event, such as update.settled, or update.*'
const types = z
  .array(z.string(typeFault).check(z.refine(isFilter, typeFault)), 'must be a list of types of events')
  .check(z.minLength(1, 'must name a type'), z.maxLength(eventTypes.length, 'has too many types'))

/** Refuses a misspelt type, because it would never match. */
function isFilter(text: string): boolean {
  return /^[a-z]+\.(\*|[a-z-]+)$/.test(text) && eventTypes.some((type) => passes([text], type))
}

/** Another system that receives events over HTTPS. `secret`: the name in Secrets Manager. */
const target = z.strictObject({ name, url, secret, types })
export type Target = Readonly<Omit<z.output<typeof target>, 'types'>> & { readonly types: readonly string[] }

const targetsFile = z
  .array(target, 'must be a list of targets')
  .check(z.maxLength(maxTargets, `must have at most ${maxTargets} targets`))

/**
 * Parses the file of event targets, a JSON list.
 *
 * @throws WrongFile with all faults.
 */
export const parseTargets = (text: string): readonly Target[] =>
  parseList(text, { schema: targetsFile, keys: [[['name'], 'is the name']] })

/**
 * The targets of the file that `EVENT_TARGETS` names.
 *
 * @throws WrongFile also if the file cannot be read. Messages show only the file's base name.
 */
export const readTargets = ({ EVENT_TARGETS: path }: { EVENT_TARGETS?: string | undefined }): readonly Target[] =>
  path === undefined ? [] : readSettingsFile(path, 'targets file', parseTargets)
