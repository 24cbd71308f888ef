import { execFile, spawnSync } from 'node:child_process'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { readOrExit } from '../../infra/local/commands/command.ts'
import { say } from '../support/process/command-line.ts'
import { type Bug, bugs, type Scene, scenes } from './bugs.ts'
import { workBugs } from './work-bugs.ts'
import { checkWorkBug, checkWorks } from './works.ts'

const usage = `Checks the model of the protocol, and that the checker finds every planted bug.

  npm run model                     every scene to its end, and every bug
  npm run model -- --quick          the small scenes to their end, without bugs: what the gate runs
  npm run model -- --bugs           the bugs alone
  npm run model -- --bug STALE_DAY  one bug, step by step
  npm run model -- --works          the rules of one work alone, which take no spin`

interface Search {
  readonly scene: string
  readonly bug: string
  readonly says: string
}

interface Found {
  readonly states: number
  readonly depth: number
  readonly errors: number
  readonly isComplete: boolean
  readonly promise: string | null
  readonly seconds: number
}

const run = promisify(execFile)
const here = import.meta.dirname
const quick: readonly Scene[] = ['RACE', 'APPROVAL', 'CHANGES']
/** A search without an error visits every state; the hash table is 2^24 slots, a path may have 100,000 steps. */
const limits = ['-m100000', '-w24']

/** Compiles the model for one scene with one bug, or none, and searches it. */
async function search({ scene, bug }: Search, keep?: (dir: string) => Promise<void>): Promise<Found> {
  const dir = await mkdtemp(join(tmpdir(), 'unit-guard-model-'))
  try {
    await cp(here, dir, { recursive: true, filter: (path) => !path.endsWith('.ts') })
    const started = performance.now()
    await run('spin', [`-DSCENE=${scene}`, `-DBUG=${bug}`, '-a', 'unit-guard.pml'], { cwd: dir })
    const speed = bug === 'NONE' || scene === 'EVIDENCE' ? '-O1' : '-O0' // most bugs are found sooner than good code is made
    const flags = [speed, '-w', '-DSAFETY', '-DCOLLAPSE', '-DNOFAIR', '-DVECTORSZ=1024']
    await run('gcc', [...flags, '-o', 'pan', 'pan.c'], { cwd: dir })
    const { stdout } = await run(join(dir, 'pan'), limits, { cwd: dir, maxBuffer: 1e8 })
    await keep?.(dir)
    return { ...read(stdout), seconds: (performance.now() - started) / 1000 }
  } finally {
    await rm(dir, { recursive: true })
  }
}

function read(output: string): Omit<Found, 'seconds'> {
  const number = (pattern: RegExp) => Number(pattern.exec(output)?.[1] ?? Number.NaN)
  return {
    states: number(/(\d+) states, stored/),
    depth: number(/depth reached (\d+)/),
    errors: number(/errors: (\d+)/),
    isComplete: !output.includes('Search not completed') && !output.includes('max search depth too small'),
    promise: /^pan:\d+: (.*) \(at depth/m.exec(output)?.[1]?.trim() ?? null,
  }
}

const isAsExpected = ({ bug }: Search, { errors, isComplete }: Found): boolean =>
  bug === 'NONE' ? errors === 0 && isComplete : errors > 0

function row(wanted: Search, found: Found): string {
  const { scene, bug, says } = wanted
  const sound = bug === 'NONE' ? 'every promise is kept' : 'caught'
  const wrong = bug === 'NONE' ? `BROKEN: ${found.promise ?? 'the search did not end'}` : 'SURVIVED'
  const result = isAsExpected(wanted, found) ? sound : wrong
  const figures = `${String(found.states).padStart(9)} ${String(found.depth).padStart(6)} ${found.seconds.toFixed(1).padStart(6)}`
  return `${scene.padEnd(9)} ${bug.padEnd(20)} ${figures}  ${result}${says === '' ? '' : `: ${says}`}`
}

/** One after another on each core; the rows come as the searches end. */
async function searchAll(wanted: readonly Search[]): Promise<boolean> {
  say(`${'scene'.padEnd(9)} ${'bug'.padEnd(20)} ${'states'.padStart(9)} ${'depth'.padStart(6)} ${'s'.padStart(6)}`)
  const left = [...wanted]
  let isSound = true
  await Promise.all(
    Array.from({ length: availableParallelism() }, async () => {
      for (let next = left.shift(); next; next = left.shift()) {
        const found = await search(next)
        isSound &&= isAsExpected(next, found)
        say(row(next, found))
      }
    }),
  )
  return isSound
}

/** The shortest that a depth-first search finds is long; it is printed as spin tells it. */
async function trail(bug: Bug): Promise<boolean> {
  const wanted = toSearch(bug)
  const found = await search(wanted, async (dir) => {
    const options = [`-DSCENE=${bug.scene}`, `-DBUG=${bug.name}`, '-t', '-p', '-g', 'unit-guard.pml']
    const { stdout } = await run('spin', options, { cwd: dir, maxBuffer: 1e8 })
    say(stdout)
  })
  say(row(wanted, found))
  return isAsExpected(wanted, found)
}

const toSearch = ({ name, scene, says }: Bug): Search => ({ scene, bug: name, says })

async function main(): Promise<boolean> {
  const { flags: values } = readOrExit({
    usage,
    flags: {
      quick: { type: 'boolean' },
      bugs: { type: 'boolean' },
      bug: { type: 'string' },
      works: { type: 'boolean' },
    },
  })
  const workBug = workBugs.find(({ rule }) => rule === values.bug)
  if (workBug) return checkWorkBug(workBug, say, true)
  const missing = ['spin', 'gcc'].filter((tool) => spawnSync(tool, ['--version']).error !== undefined)
  if (missing.length > 0 && !values.works) {
    say(`NOT CHECKED: the model needs ${missing.join(' and ')}; on Debian: apt-get install spin gcc libc6-dev`)
    return false
  }
  const worksAreSound = values.bug !== undefined || checkWorks({ quick: values.quick ?? false, say })
  if (values.works) return worksAreSound
  if (values.bug !== undefined) {
    const named = bugs.find(({ name }) => name === values.bug)
    if (named) return trail(named)
    say(`There is no bug ${values.bug}; bugs.ts and work-bugs.ts list them.`)
    return false
  }
  const sound = (values.quick ? quick : scenes).map((scene) => ({ scene, bug: 'NONE', says: '' }))
  const isSound = await searchAll([...(values.bugs ? [] : sound), ...(values.quick ? [] : bugs.map(toSearch))])
  return isSound && worksAreSound
}

process.exitCode = (await main()) ? 0 : 1
