import { gunzipSync, gzipSync } from 'node:zlib'
import { getAll, type Item, type Key, type Store } from '../../shared/ledger/store/store.ts'
import { systemIds } from '../../shared/platform/ids.ts'
import { balanceOf, type Terms } from './account.ts'
import type { Fault } from './faults.ts'
import type { Project, ProjectInput, Run } from './project.ts'

/** Each method is atomic. */
export type State = ReturnType<typeof createState>

/** A file, or a table that several processes share. */
type Place = Pick<Store, 'get' | 'transact'>

interface Contents {
  readonly projects: readonly Project[]
  readonly runs: readonly Run[]
  readonly faults: readonly Fault[]
  readonly version: number
  /** The version that last changed a project. */
  readonly projectsAt: number
}

type Change = Partial<Pick<Contents, 'projects' | 'runs' | 'faults'>>

type MayReserve = (before: Contents, after: Contents) => boolean

const firstId = 1001
const maxRounds = 100

/**
 * @param demonstration the projects that fill an empty state.
 * @param place keeps every change; without it, the state is in memory.
 */
export function createState(demonstration: readonly ProjectInput[], place?: Place) {
  const { look, change } = createContents(demonstration, place)
  return {
    /** Returns all projects and the first fault that matches, and counts that fault down. */
    meet: async (matches: (fault: Fault, projects: readonly Project[]) => boolean) => {
      const find = ({ faults, projects }: Contents) => faults.find((each) => matches(each, projects))
      const now = await look()
      const isCounted = find(now)?.times !== undefined
      const met = isCounted ? await change((seen) => countDown(seen.faults, find(seen))) : now
      return { projects: met.projects, fault: find(met) }
    },
    /** Adds nothing if the name is taken, or if `mayReserve` says that the account cannot pay for its schedule. */
    addProject: async (
      input: ProjectInput,
      mayReserve: MayReserve = () => true,
    ): Promise<Project | 'taken' | 'too-expensive'> => {
      let added: Project | 'taken' | 'too-expensive' = 'taken'
      await change((seen) => {
        added = 'taken'
        if (seen.projects.some(({ name }) => name === input.name)) return undefined
        added = 'too-expensive'
        const project = { id: String(firstId + seen.projects.length), ...input }
        if (!mayReserve(seen, { ...seen, projects: [...seen.projects, project] })) return undefined
        added = project
        return { projects: [project] }
      })
      return added
    },
    /** `undefined` if the project is missing, `change` returns `undefined`, or `mayReserve` does not allow the change. */
    changeProject: async (
      id: string,
      changed: (project: Project) => Project | undefined,
      mayReserve: MayReserve = () => true,
    ) => {
      let made: Project | undefined
      await change((seen) => {
        const found = seen.projects.find((project) => project.id === id)
        const next = found && changed(found)
        const projects = seen.projects.map((project) => (next && project.id === id ? next : project))
        made = mayReserve(seen, { ...seen, projects }) ? next : undefined
        return made && { projects: [made] }
      })
      return made
    },
    /** `false`, without a change, if the month has too few units. */
    addRun: async (run: Run, terms: Terms): Promise<boolean> => {
      const isPaid = (seen: Contents) => run.units <= balanceOf(seen, run.at, terms).left
      return isPaid(await change((seen) => (isPaid(seen) ? { runs: [run] } : undefined)))
    },
    /** Projects, and runs with the oldest first. */
    contents: async (): Promise<Pick<Contents, 'projects' | 'runs'>> => {
      const { projects, runs } = await look()
      return { projects, runs: runs.toSorted((a, b) => a.at - b.at) }
    },
    /** Oldest first. */
    runs: async (): Promise<readonly Run[]> => (await look()).runs.toSorted((a, b) => a.at - b.at),
    faults: async () => (await look()).faults,
    replaceFaults: async (faults: readonly Fault[]) => void (await change(() => ({ faults }))),
  }
}

function createContents(demonstration: readonly ProjectInput[], place?: Place) {
  let known: Contents = { projects: [], runs: [], faults: [], version: 0, projectsAt: 0 }
  let last: Promise<unknown> = Promise.resolve()

  async function look(hasBegun = false): Promise<Contents> {
    if (place) known = await readContents(place, known)
    if (known.version > 0) return known
    const projects = demonstration.map((project, index) => ({ id: String(firstId + index), ...project }))
    if (hasBegun) throw new Error('the state of the stand-in was written by another version')
    await keep(known, { projects })
    return look(true)
  }

  /** @returns `false` if another process was quicker. */
  async function keep(seen: Contents, { projects = [], runs = [], faults = seen.faults }: Change): Promise<boolean> {
    const version = seen.version + 1
    const changed = new Map([...seen.projects, ...projects].map((project) => [project.id, project]))
    const projectsAt = projects.length > 0 ? version : seen.projectsAt
    const next = { version, projectsAt, faults, projects: [...changed.values()], runs: [...seen.runs, ...runs] }
    const items = [
      toHead(next),
      ...projects.map((project) => toItem('project', Number(project.id), project)),
      ...runs.map((run, index) => toItem('run', seen.runs.length + index, run)),
    ]
    if (place && !(await putAll(place, items, seen.version))) return false
    known = next
    return true
  }

  /** Changes run one after another in this process. @param make returns what changes, or `undefined` for nothing. */
  function change(make: (now: Contents) => Change | undefined): Promise<Contents> {
    const done = last.then(async () => {
      for (let round = 0; round < maxRounds; round++) {
        const seen = await look()
        const made = make(seen)
        if (!made || (await keep(seen, made))) return seen
      }
      throw new Error('too many changes of the stand-in at once')
    })
    last = done.catch(() => {})
    return done
  }

  return { look, change }
}

function countDown(faults: readonly Fault[], used: Fault | undefined): Change | undefined {
  if (used?.times === undefined) return undefined
  const { times } = used
  return {
    faults: faults.flatMap((each) => (each !== used ? [each] : times > 1 ? [{ ...each, times: times - 1 }] : [])),
  }
}

const headKey: Key = { pk: 'head', sk: 'head' }

type Kind = 'project' | 'run'
const keyOf = (kind: Kind, number: number): Key => ({ pk: `${kind}#${number}`, sk: kind })

const toItem = (kind: Kind, number: number, value: object): Item => ({
  ...keyOf(kind, number),
  packed: gzipSync(JSON.stringify(value)).toString('base64'),
})

/** Reads the head first, so that all projects and runs that it counts are stored. */
async function readContents(store: Place, known: Contents): Promise<Contents> {
  const [head] = await store.get([headKey])
  if (!head) return known
  const read = async <T>(kind: Kind, from: number, to: number): Promise<T[]> => {
    const keys = Array.from({ length: Math.max(0, to - from) }, (_, index) => keyOf(kind, from + index))
    const items = await getAll(store, keys)
    return items.map((item) => JSON.parse(gunzipSync(Buffer.from(String(item?.packed), 'base64')).toString()))
  }
  const { version, projectsAt } = head as unknown as Contents
  const isSame = projectsAt === known.projectsAt
  return {
    version,
    projectsAt,
    faults: JSON.parse(String(head.faults)),
    projects: isSame ? known.projects : await read<Project>('project', firstId, firstId + Number(head.projects)),
    runs: [...known.runs, ...(await read<Run>('run', known.runs.length, Number(head.runs)))],
  }
}

const toHead = ({ version, projectsAt, faults, projects, runs }: Contents): Item => ({
  ...headKey,
  version,
  projectsAt,
  projects: projects.length,
  runs: runs.length,
  faults: JSON.stringify(faults),
})

/** @param seen the version of the head that the first item replaces. */
async function putAll(place: Place, items: readonly Item[], seen: number): Promise<boolean> {
  const isSeen =
    seen === 0 ? { kind: 'absent-item' as const } : { kind: 'equal' as const, path: versionPath, value: seen }
  const puts = items.map(
    (item, index) => ({ kind: 'put', item, when: index === 0 || seen === 0 ? [isSeen] : [] }) as const,
  )
  return (await place.transact(puts, systemIds.random())).applied
}

const versionPath = ['version'] as const
