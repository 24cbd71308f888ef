import { isObject, type Json, parseStrictJson } from '../../../../shared/platform/json.ts'
import { textOf } from '../../../../shared/tracking/answer.ts'
import { integerOf } from '../../../../shared/tracking/read-units.ts'
import { type Exchange, isSuccess } from '../../../../shared/tracking/transport.ts'

const mostPointers = 6
/** Of the service's envelope: an integer, and never units. */
const envelopeCode = 'response_code'

interface Listing {
  readonly projects: readonly { readonly name: string; readonly id: string | undefined }[]
  /** How it went, in a few words. */
  readonly reason: string
}

/** The service documents only an object with `projects` that lists names; ids are read where they are shown. */
export function readProjects(exchange: Exchange): Listing {
  const none = (reason: string) => ({ projects: [], reason })
  if (exchange.kind === 'failed') return none(`cannot be listed (${exchange.reason})`)
  if (!isSuccess(exchange.status)) return none(`cannot be listed (status ${exchange.status})`)
  const projects = projectsIn(jsonOf(exchange))
  if (projects === null) return none('cannot be listed (no list of projects in the body)')
  return { projects, reason: projects.length === 0 ? 'none is listed' : `${projects.length} are listed` }
}

/** The rows of a list of projects that have a name; `null` where there is no such list. */
export function projectsIn(json: Json | undefined): Listing['projects'] | null {
  const rows = listIn(json)
  if (rows === null) return null
  return rows.flatMap((row) => {
    const name = isObject(row) ? row.name : row
    const id = isObject(row) ? row.id : undefined
    const hasId = typeof id === 'string' || typeof id === 'number'
    return typeof name === 'string' ? [{ name, id: hasId ? String(id) : undefined }] : []
  })
}

function listIn(json: Json | undefined): Json[] | null {
  if (!isObject(json)) return null
  if (Array.isArray(json.projects)) return json.projects
  return isObject(json.data) ? listIn(json.data) : null
}

/** JSON Pointers to everything in an answer that may be a number of units, for a person to choose from. */
export function pointersToUnits(exchange: Exchange): string[] {
  if (exchange.kind === 'failed') return []
  return [...pointersIn(jsonOf(exchange), '')].slice(0, mostPointers)
}

function* pointersIn(value: Json | undefined, path: string): Generator<string> {
  if (typeof value === 'object' && value !== null) {
    for (const [name, member] of Object.entries(value)) {
      if (name === envelopeCode) continue
      yield* pointersIn(member, `${path}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`)
    }
  } else if ((integerOf(value) ?? -1) >= 0 && path !== '') yield path
}

function jsonOf(exchange: Exclude<Exchange, { kind: 'failed' }>): Json | undefined {
  const text = textOf(exchange)
  const json = parseStrictJson(text.ok ? text.text : '')
  return json.ok ? json.value : undefined
}
