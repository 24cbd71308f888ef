import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import * as z from 'zod/mini'
import { type Clock, toRfc3339 } from '../../../shared/platform/clock.ts'
import { digest, type Ids } from '../../../shared/platform/ids.ts'
import type { Fault } from '../faults.ts'
import type { Project, ProjectInput, Run } from '../project.ts'
import { countDown, firstId, monthOf, ProjectTooLarge, type State } from './state.ts'
import { pack, parseFaults, parseRun, unpack } from './stored.ts'
import { createTableAccess, type Key, type TableAccess } from './table-access.ts'

const maxFaultRounds = 100

/**
 * A DynamoDB table that several processes may share.
 *
 * | pk | sk | item |
 * |---|---|---|
 * | `head` | `head` | the faults, the last id, revisions |
 * | `projects` | digest of the name | one project |
 * | `months` | `2026-11` | the units that the month's runs have taken |
 * | `runs` | time and chance | one run |
 * | `runs#` digest of the name | time and chance | the same run, for each of its projects |
 *
 * @param options.demonstration the projects that fill an empty table.
 */
export function createTableState(options: {
  client: DynamoDBClient
  table: string
  clock: Clock
  ids: Ids
  demonstration: () => readonly ProjectInput[]
}): State {
  const { ids, demonstration } = options
  const access = createTableAccess(options)
  const projects = createTableProjects(access)
  let seeded: Promise<void> | undefined

  /** Lazy: a function must not wait for a table before its first request. */
  function open(): Promise<void> {
    seeded ??= seed(access, demonstration()).catch((error) => {
      seeded = undefined
      throw error
    })
    return seeded
  }

  const runsIn = async (partition: string) => {
    await open()
    return (await access.list(partition)).map(({ json }) => parseRun(String(json)))
  }

  return {
    meet: async (matches) => {
      await open()
      return meet(access, projects, matches)
    },

    addProject: async (project) => {
      await open()
      return projects.add(project)
    },

    changeProject: async (id, change) => {
      await open()
      return projects.change(id, change)
    },

    addRun: async (run, unitsPerMonth) => {
      if (run.units > unitsPerMonth) return false
      await open()
      const id = `${toRfc3339(run.at)}#${ids.random()}`
      return addRun(access, run, { id, unitsPerMonth })
    },

    runs: () => runsIn('runs'),
    runsOf: (project) => runsIn(runsPartition(project)),
    faults: async () => {
      await open()
      return (await projects.readHead()).faults
    },
    replaceFaults: async (faults: readonly Fault[]) => {
      await open()
      await access.write(
        access.update(headKey, 'SET faults = :faults, faultsRevision = faultsRevision + :one', {
          ':faults': JSON.stringify(faults),
          ':one': 1,
        }),
      )
    },
  }
}

const runsPartition = (project: string): string => `runs#${digest(project)}`

/** Counts a fault down before using it, so that two processes never use a fault too often. */
async function meet(
  access: TableAccess,
  projects: ReturnType<typeof createTableProjects>,
  matches: Parameters<State['meet']>[0],
): ReturnType<State['meet']> {
  for (let round = 0; round < maxFaultRounds; round++) {
    const head = await projects.readHead()
    const all = await projects.at(head)
    const fault = head.faults.find((each) => matches(each, all))
    if (fault?.times === undefined) return { projects: all, fault }
    const [isMine] = await access.write(
      access.update(
        headKey,
        'SET faults = :faults, faultsRevision = faultsRevision + :one',
        { ':faults': JSON.stringify(countDown(head.faults, fault)), ':one': 1, ':seen': head.faultsRevision },
        'faultsRevision = :seen',
      ),
    )
    if (isMine) return { projects: all, fault }
  }
  throw new Error('too many requests for one fault at once')
}

async function addRun(
  access: TableAccess,
  run: Run,
  { id, unitsPerMonth }: { id: string; unitsPerMonth: number },
): Promise<boolean> {
  const json = JSON.stringify(run)
  const done = await access.write(
    access.update(
      { pk: 'months', sk: monthOf(run.at) },
      'SET used = if_not_exists(used, :none) + :units',
      { ':none': 0, ':units': run.units, ':most': unitsPerMonth - run.units },
      'attribute_not_exists(used) OR used <= :most',
    ),
    ...['runs', ...run.projects.map(runsPartition)].map((pk) => access.put({ pk, sk: id, json })),
  )
  return done.every(Boolean)
}

const headKey: Key = { pk: 'head', sk: 'head' }
const isAbsent = 'attribute_not_exists(pk)'
const maxProjectRounds = 20
/** DynamoDB's limit is 400 KB. */
const maxBytes = 380_000

type StoredProject = { readonly project: Project; readonly revision: number }

/** Caches projects until the head says that a project changed. */
function createTableProjects(access: TableAccess) {
  let cache: { readonly revision: number; readonly storedProjects: readonly StoredProject[] } | undefined

  async function readHead(): Promise<Head> {
    return parseHead(await access.get(headKey))
  }

  async function projectsAt({ projectsRevision }: Head): Promise<readonly StoredProject[]> {
    if (cache?.revision === projectsRevision) return cache.storedProjects
    // The projects may be newer than the head, never older: both change in one transaction.
    const storedProjects = (await access.list('projects')).map(fromItem)
    storedProjects.sort((a, b) => Number(a.project.id) - Number(b.project.id))
    cache = { revision: projectsRevision, storedProjects }
    return storedProjects
  }

  const moveHead = (lastId: number, seen: number) =>
    access.update(
      headKey,
      'SET projectsRevision = projectsRevision + :one, lastId = :id',
      { ':one': 1, ':id': lastId, ':seen': seen },
      'lastId = :seen',
    )

  async function add(input: ProjectInput): Promise<Project | undefined> {
    for (let round = 0; round < maxProjectRounds; round++) {
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
    for (let round = 0; round < maxProjectRounds; round++) {
      const head = await readHead()
      const found = (await projectsAt(head)).find(({ project }) => project.id === id)
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

  return {
    readHead,
    at: async (head: Head): Promise<readonly Project[]> => (await projectsAt(head)).map(({ project }) => project),
    add,
    change,
  }
}

/** If a second process does the same, its write changes nothing. */
async function seed(access: TableAccess, demonstration: readonly ProjectInput[]): Promise<void> {
  if (await access.get(headKey)) return
  const projects = demonstration.map((input, index) => ({ id: String(firstId + index), ...input }))
  const head = { projectsRevision: 1, faultsRevision: 1, faults: '[]', lastId: firstId + projects.length - 1 }
  await access.write(
    access.put({ ...headKey, ...head }, isAbsent),
    ...projects.map((project) => access.put(toItem(project, 1), isAbsent)),
  )
}

/** A key has at most 1,024 bytes; a name may be longer. */
const keyOf = (name: string): Key => ({ pk: 'projects', sk: digest(name) })

function toItem(project: Project, revision: number) {
  const packed = pack(project)
  if (packed.length > maxBytes) throw new ProjectTooLarge(`${packed.length} bytes`)
  return { ...keyOf(project.name), name: project.name, revision, packed }
}

function fromItem({ packed, revision }: Readonly<Record<string, unknown>>): StoredProject {
  if (!(packed instanceof Uint8Array) || typeof revision !== 'number') throw new Error('not the item of a project')
  return { project: unpack(packed), revision }
}

interface Head {
  readonly projectsRevision: number
  readonly faultsRevision: number
  readonly faults: readonly Fault[]
  readonly lastId: number
}

const text = z.string()
const integer = z.number().check(z.int())

const head = z.pipe(
  z.object({ projectsRevision: integer, faultsRevision: integer, faults: text, lastId: integer }),
  z.transform(({ faults, ...rest }): Head => ({ ...rest, faults: parseFaults(faults) })),
)

/** @throws ZodError for an item of another version. */
const parseHead = (item: unknown): Head => head.parse(item)
