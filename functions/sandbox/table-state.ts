import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { type Clock, toRfc3339 } from '../../shared/platform/clock.ts'
import { digest, type Ids } from '../../shared/platform/ids.ts'
import type { Fault } from './faults.ts'
import type { ProjectInput } from './project.ts'
import { counted, monthOf, type State } from './state.ts'
import { parseRun } from './table.ts'
import { createTableAccess } from './table-access.ts'
import { createTableProjects, headKey } from './table-projects.ts'

const mostRounds = 100

/**
 * The state in a DynamoDB table of its own, which several processes may share and which outlives them.
 *
 * | pk | sk | item |
 * |---|---|---|
 * | `head` | `head` | the faults, the last id, revisions |
 * | `projects` | digest of the name | one project |
 * | `months` | `2026-11` | the units that the month's runs have taken |
 * | `runs` | time and chance | one run |
 * | `runs#` digest of the name | time and chance | the same run, for each of its projects |
 *
 * @param options.demonstration what an empty table is filled with, once.
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

  /** Lazily, because on AWS a function must not wait for a table before it is asked anything. */
  function open(): Promise<void> {
    seeded ??= projects.seed(demonstration()).catch((error) => {
      seeded = undefined
      throw error
    })
    return seeded
  }

  async function readHead() {
    await open()
    return projects.readHead()
  }

  const runsIn = async (partition: string) => {
    await open()
    return (await access.list(partition)).map(({ json }) => parseRun(String(json)))
  }

  return {
    meet: async (matches) => {
      for (let round = 0; round < mostRounds; round++) {
        const head = await readHead()
        const known = await projects.at(head)
        const fault = head.faults.find((each) => matches(each, known))
        if (fault?.times === undefined) return { projects: known, fault }
        const [isMine] = await access.write(
          access.update(
            headKey,
            'SET faults = :faults, faultsRevision = faultsRevision + :one',
            { ':faults': JSON.stringify(counted(head.faults, fault)), ':one': 1, ':seen': head.faultsRevision },
            'faultsRevision = :seen',
          ),
        )
        if (isMine) return { projects: known, fault }
      }
      throw new Error('too many requests for one fault at once')
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
      const sk = `${toRfc3339(run.at)}#${ids.random()}`
      const json = JSON.stringify(run)
      const done = await access.write(
        access.update(
          { pk: 'months', sk: monthOf(run.at) },
          'SET used = if_not_exists(used, :none) + :units',
          { ':none': 0, ':units': run.units, ':most': unitsPerMonth - run.units },
          'attribute_not_exists(used) OR used <= :most',
        ),
        ...['runs', ...run.projects.map(runsPartition)].map((pk) => access.put({ pk, sk, json })),
      )
      return done.every(Boolean)
    },

    runs: () => runsIn('runs'),
    runsOf: (project) => runsIn(runsPartition(project)),
    faults: async () => (await readHead()).faults,
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
