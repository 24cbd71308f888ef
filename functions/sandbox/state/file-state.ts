import { ItemTooLarge } from '../../../shared/ledger/errors.ts'
import { getAll, type Item, type Key, type Position, type Store } from '../../../shared/ledger/store/store.ts'
import type { Ids } from '../../../shared/platform/ids.ts'
import type { Project, ProjectInput, Run } from '../project.ts'
import { type Contents, createState, demonstrated, ProjectTooLarge, type State } from './state.ts'
import { pack, parseFaults, parseRun, unpack } from './stored.ts'

/**
 * In memory, and every change in a file, which one process has.
 *
 * @param parts.demonstration the projects that fill an empty file.
 */
export async function createFileState(parts: {
  store: Store
  ids: Ids
  demonstration: () => readonly ProjectInput[]
}): Promise<State> {
  const { store, ids } = parts
  const kept = await readContents(store)
  let runs = kept.runs.length

  async function keep({ projects = [], runs: added = [], faults }: Partial<Contents>): Promise<void> {
    const items = [
      ...projects.map(toProjectItem),
      ...added.map((run) => toRunItem(run, ++runs)),
      ...(faults ? [{ ...faultsKey, json: JSON.stringify(faults) }] : []),
    ]
    try {
      await store.transact(
        items.map((item) => ({ kind: 'put', item, when: [] })),
        ids.random(),
      )
    } catch (error) {
      throw error instanceof ItemTooLarge ? new ProjectTooLarge(error.message) : error
    }
  }

  if (kept.projects.length > 0) return createState(kept, keep)
  const first = demonstrated(parts.demonstration())
  if (first.projects.length > 0) await keep(first)
  return createState(first, keep)
}

const faultsKey: Key = { pk: 'faults', sk: 'faults' }
const digits = 12
const pageSize = 100

const listed = (kind: 'project' | 'run', number: number | string) => ({
  pk: `${kind}#${number}`,
  sk: kind,
  listedIn: kind,
  listedAt: String(number).padStart(digits, '0'),
})

const toProjectItem = (project: Project): Item => ({
  ...listed('project', project.id),
  packed: pack(project).toString('base64'),
})

const toRunItem = (run: Run, number: number): Item => ({ ...listed('run', number), json: JSON.stringify(run) })

async function readContents(store: Store): Promise<Contents> {
  const [faults] = await store.get([faultsKey])
  return {
    projects: (await all(store, 'project')).map(({ packed }) => unpack(Buffer.from(String(packed), 'base64'))),
    runs: (await all(store, 'run')).map(({ json }) => parseRun(String(json))),
    faults: faults ? parseFaults(String(faults.json)) : [],
  }
}

async function all(store: Store, partition: 'project' | 'run'): Promise<readonly Item[]> {
  const keys: Position[] = []
  for (let more = true; more; ) {
    const after = keys.at(-1)
    const page = await store.list({
      ...{ index: 'by-time', partition, newestFirst: false, limit: pageSize },
      ...(after && { after }),
    })
    keys.push(...page.positions)
    more = page.more
  }
  return (await getAll(store, keys)).filter((item) => item !== undefined)
}
