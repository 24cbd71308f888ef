import { gunzipSync, gzipSync } from 'node:zlib'
import { digest } from '../../shared/platform/ids.ts'
import type { Project, ProjectInput } from './project.ts'
import { firstId, ProjectTooLarge } from './state.ts'
import { type Head, parseHead, parseProject } from './table.ts'
import type { Key, TableAccess } from './table-access.ts'

export const headKey: Key = { pk: 'head', sk: 'head' }
const isAbsent = 'attribute_not_exists(pk)'
const mostRounds = 20
/** An item of DynamoDB has 400 KB. */
const mostBytes = 380_000

type Kept = { readonly project: Project; readonly revision: number }

/** The projects in the table. All are kept in mind too, for as long as the head says that none has changed. */
export function createTableProjects(access: TableAccess) {
  let known: { readonly revision: number; readonly kept: readonly Kept[] } | undefined

  async function readHead(): Promise<Head> {
    return parseHead(await access.get(headKey))
  }

  async function keptAt({ projectsRevision }: Head): Promise<readonly Kept[]> {
    if (known?.revision === projectsRevision) return known.kept
    // They may be newer than the head that was read, never older: both move in one transaction.
    const kept = (await access.list('projects')).map(fromItem)
    kept.sort((a, b) => Number(a.project.id) - Number(b.project.id))
    known = { revision: projectsRevision, kept }
    return kept
  }

  const moveHead = (lastId: number, seen: number) =>
    access.update(
      headKey,
      'SET projectsRevision = projectsRevision + :one, lastId = :id',
      { ':one': 1, ':id': lastId, ':seen': seen },
      'lastId = :seen',
    )

  async function add(input: ProjectInput): Promise<Project | undefined> {
    for (let round = 0; round < mostRounds; round++) {
      const { lastId } = await readHead()
      const project = { id: String(lastId + 1), ...input }
      const [nameIsFree, idIsFree] = await access.write(
        access.put(toItem(project, 1), isAbsent),
        moveHead(lastId + 1, lastId),
      )
      if (!nameIsFree) return undefined
      if (idIsFree) return project
    }
    throw new Error('too many projects are made at once')
  }

  async function change(id: string, changed: (project: Project) => Project | undefined): Promise<Project | undefined> {
    for (let round = 0; round < mostRounds; round++) {
      const head = await readHead()
      const found = (await keptAt(head)).find(({ project }) => project.id === id)
      const project = found && changed(found.project)
      if (!project) return undefined
      const done = await access.write(
        access.put(toItem(project, found.revision + 1), 'revision = :seen', { ':seen': found.revision }),
        moveHead(head.lastId, head.lastId),
      )
      if (done.every(Boolean)) return project
    }
    throw new Error('too many changes of one project at once')
  }

  /** Everything that a new table begins with; whoever comes second changes nothing. */
  async function seed(demonstration: readonly ProjectInput[]): Promise<void> {
    if (await access.get(headKey)) return
    const projects = demonstration.map((input, index) => ({ id: String(firstId + index), ...input }))
    const head = {
      projectsRevision: 1,
      faultsRevision: 1,
      faults: '[]',
      lastId: firstId + projects.length - 1,
    }
    await access.write(
      access.put({ ...headKey, ...head }, isAbsent),
      ...projects.map((project) => access.put(toItem(project, 1), isAbsent)),
    )
  }

  return {
    readHead,
    at: async (head: Head): Promise<readonly Project[]> => (await keptAt(head)).map(({ project }) => project),
    add,
    change,
    seed,
  }
}

/** A key has 1,024 bytes, which a name may exceed. */
const keyOf = (name: string): Key => ({ pk: 'projects', sk: digest(name) })

function toItem(project: Project, revision: number) {
  const packed = gzipSync(JSON.stringify(project))
  if (packed.length > mostBytes) throw new ProjectTooLarge(`${packed.length} bytes`)
  return { ...keyOf(project.name), name: project.name, revision, packed }
}

function fromItem({ packed, revision }: Readonly<Record<string, unknown>>): Kept {
  if (!(packed instanceof Uint8Array) || typeof revision !== 'number') throw new Error('not the item of a project')
  return { project: parseProject(gunzipSync(packed).toString()), revision }
}
