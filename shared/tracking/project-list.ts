import { isObject, type Json, parseStrictJson } from '../platform/json.ts'
import { textOf } from './answer.ts'
import { signsIn } from './signs.ts'
import { type Exchange, isSuccess } from './transport.ts'

export interface ListedProject {
  readonly name: string
  readonly id?: string | undefined
}

/** All lists of projects that the service has. The interface shows names in one of them, and ids in the other. */
export type ProjectLists = readonly (readonly ListedProject[])[]

export interface Listing {
  readonly projects: readonly ListedProject[]
  readonly reason: string
  readonly isRead: boolean
}

/** @returns `null` if a list cannot be read now. The second list is asked for only if the first one has no ids. */
export async function readProjectLists(
  read: (path: string) => Promise<{ readonly exchange: Exchange }>,
): Promise<ProjectLists | null> {
  const first = readProjects((await read('/projects')).exchange)
  if (!first.isRead) return null
  if (first.projects.length === 0 || hasIds(first.projects)) return [first.projects]
  const second = readProjects((await read('/marketshare/projects')).exchange)
  return second.isRead ? [first.projects, second.projects] : null
}

const hasIds = (projects: readonly ListedProject[]): boolean => projects.some(({ id }) => id !== undefined)

/** The service documents `projects` with names only. Ids are read if there are any. */
export function readProjects(exchange: Exchange): Listing {
  const none = (reason: string) => ({ projects: [], reason, isRead: false })
  if (exchange.kind === 'failed') return none(`cannot be listed (${exchange.reason})`)
  if (!isSuccess(exchange.status)) return none(`cannot be listed (status ${exchange.status})`)
  const json = jsonOf(exchange)
  const projects = projectsIn(json)
  if (projects === null) return none('cannot be listed (no list of projects in the body)')
  if (projects.length > 0) return { projects, reason: `${projects.length} are listed`, isRead: true }
  // An empty list in an answer of failure does not say that there is no project.
  const [sign] = signsIn(json ?? null, { call: 'dates', names: [], well: [], redact: (text) => text })
  return sign
    ? none(`cannot be listed (the answer has ${sign.text})`)
    : { projects, reason: 'none is listed', isRead: true }
}

export function projectsIn(json: Json | undefined): readonly ListedProject[] | null {
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

export function jsonOf(exchange: Exclude<Exchange, { kind: 'failed' }>): Json | undefined {
  const text = textOf(exchange)
  const json = parseStrictJson(text.ok ? text.text : '')
  return json.ok ? json.value : undefined
}
