import { fromUtf8, isObject, type Json, parseStrictJson } from '../platform/json.ts'
import { queryPairs } from './operations.ts'

/** Why a write may schedule a project. `no frequency`: the interface does not say what an absent frequency means. */
export type MaySchedule = 'query' | 'body' | 'no frequency'

/**
 * A scheduled project reserves units on its own. Returns `null` if query and body have no member that could set a
 * schedule, but for create's one `frequency=ondemand`.
 *
 * @param body JSON that was checked before.
 */
export function whatMaySchedule(
  operation: 'create-project' | 'update-project',
  search: string,
  body: Uint8Array,
): MaySchedule | null {
  const members = queryPairs(search).filter(([name]) => setsSchedule(name))
  const isOnDemand = members.length === 1 && isExactlyOnDemand(members[0])
  const mayBeOnDemand = operation === 'create-project' && isOnDemand
  if (members.length > 0 && !mayBeOnDemand) return 'query'
  const json = parseStrictJson(fromUtf8(body) ?? '')
  if (!json.ok || hasSchedule(json.value)) return 'body'
  if (operation === 'create-project' && !mayBeOnDemand) return 'no frequency'
  return null
}

function isExactlyOnDemand([name, value]: readonly [string, string] = ['', '']): boolean {
  try {
    return decodeURIComponent(name) === 'frequency' && decodeURIComponent(value) === 'ondemand'
  } catch {
    return false
  }
}

function hasSchedule(value: Json): boolean {
  if (Array.isArray(value)) return value.some(hasSchedule)
  if (!isObject(value)) return false
  return Object.entries(value).some(([name, member]) => setsSchedule(name) || hasSchedule(member))
}

const wanted = ['frequency', 'schedule']
const punctuation = /[^\p{L}\p{M}\p{N}\p{Cf}\s_-]+/u

/** Only letters count, because a service may ignore the rest of a name. Punctuation may nest: `project[frequency]`. */
function setsSchedule(name: string): boolean {
  const plain = decoded(name).normalize('NFKC').toLowerCase()
  return [plain, ...plain.split(punctuation)].some((part) => wanted.includes(part.replace(/\P{L}/gu, '')))
}

const escapedBytes = /(?:%(?:25)*[\da-f]{2})+/gi
const escapedByte = /%(?:25)*([\da-f]{2})/gi
/** Escapes may be nested: `%25%36%36` is `%66`, and that is `f`. */
const maxDecodings = 4

/** Bytes that are not UTF-8 become a character that is no letter. */
function decoded(name: string): string {
  let plain = name
  for (let times = 0; times < maxDecodings; times++) plain = plain.replace(escapedBytes, (run) => fromHex(run))
  return plain
}

const fromHex = (run: string): string => Buffer.from(run.replace(escapedByte, '$1'), 'hex').toString()
