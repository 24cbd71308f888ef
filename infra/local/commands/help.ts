import { readFile } from 'node:fs/promises'
import { type CommandName, commands, type Run } from './table.ts'

/** What a command does: the beginning of its usage. */
function summaryOf(name: CommandName): string {
  const [summary = ''] = /^[^.:;(]+/.exec(commands[name].usage) ?? []
  return `${summary.charAt(0).toLowerCase()}${summary.slice(1)}`.replace(/\s+/g, ' ').trim()
}

const linesOf = (...names: CommandName[]) => Object.fromEntries(names.map((name) => [name, summaryOf(name)]))

export const groups: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'First steps': linesOf('start', 'login', 'demo:month', 'demo:kill', 'doctor', 'help'),
  'Every day': linesOf(
    ...(['serve', 'token', 'budgets', 'plan', 'why', 'sweep', 'events'] as const),
    ...(['client', 'bundle', 'openapi', 'sandbox'] as const),
  ),
  Repair: linesOf('account', 'backup', 'restore', 'move', 'recover'),
  Development: {
    check: 'runs everything below that must hold before a commit',
    'check:static': 'checks format, types and unused code',
    'check:templates': 'reads every CloudFormation template with cfn-lint, which takes Python',
    format: 'repairs the format',
    test: 'runs the test suite',
    'test:busy': 'runs the tests beside twenty busy processes',
    'test:shuffled': 'runs the tests in random order',
    'test:runtime': 'runs the bundled functions and the unit tests on the Node of Lambda; with suite, all tests',
    'test:conformance': 'runs the official scenarios of the Model Context Protocol',
    'test:deploy': 'rehearses a deployment on an emulator of AWS',
    sim: 'runs all schedules of small races, random workloads, and every planted bug',
    kills: 'kills the product at random moments, and compares the ledger with the service',
    figures: 'counts lines, files, words, routes and other parts of this repository',
    fuzz: 'sends what the OpenAPI document describes and rules out, with Schemathesis',
    mutation: 'runs the tests of one part against mutants',
    bench: 'measures the product and writes docs/performance.md',
    pictures: 'takes the pictures of the README',
    synth: 'writes the CloudFormation template, offline',
    sbom: 'lists what is shipped to AWS and to one machine, as CycloneDX',
  },
}

export const run: Run<'help'> = async () => {
  // In the working directory, as npm runs it.
  console.log(listOf(Object.keys(JSON.parse(await readFile('package.json', 'utf8')).scripts)))
  return true
}

/** A script without a line is listed too, so that no command is hidden. */
export function listOf(scripts: readonly string[]): string {
  const known = Object.values(groups).flatMap((lines) => Object.keys(lines))
  const others = scripts.filter((name) => !known.includes(name)).map((name) => [name, ''])
  const all = others.length === 0 ? groups : { ...groups, Others: Object.fromEntries(others) }
  const width = Math.max(...scripts.map((name) => callOf(name).length))
  const sections = Object.entries(all).flatMap(([group, lines]) => {
    const here = Object.entries(lines).filter(([name]) => scripts.includes(name))
    const listed = here.map(([name, line]) => `  ${callOf(name).padEnd(width)}  ${line}`.trimEnd())
    return listed.length === 0 ? [] : [[group, ...listed].join('\n')]
  })
  return [...sections, 'npm run <command> -- --help says how to call a command.'].join('\n\n')
}

const callOf = (name: string): string => (name === 'start' || name === 'test' ? `npm ${name}` : `npm run ${name}`)
