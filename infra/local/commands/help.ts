import { readFile } from 'node:fs/promises'
import { defineCommand } from './command.ts'

const usage = `Lists all commands.

  npm run help`

export const groups: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'First steps': {
    start: 'starts everything on this machine, with a stand-in for the service, until Ctrl-C',
    login: 'prints a link that logs you in to the dashboard once',
    'demo:month': 'fills a new ledger with a month, so that every page has something to show',
    doctor: 'checks the service, the ledger, issuers and event targets, and says what to do first',
    help: 'prints this list',
  },
  'Every day': {
    serve: 'runs Unit Guard for your own service on this machine, without a stand-in, until SIGTERM',
    token: 'prints a bearer token for a person or a tool',
    budgets: 'creates and changes budgets from a file, shows the difference, exports a file',
    plan: 'runs a plan now and reports the outcome for each project',
    sweep: 'runs one sweep now; sweeps also run by themselves',
    events: 'lists the targets of events, tests one, sends events again',
    client: 'builds the client for your own programs',
    bundle: 'builds one folder with what runs on one machine',
    openapi: 'prints the OpenAPI document of the API',
    sandbox: 'starts the stand-in for the service alone',
  },
  Repair: {
    account: 'begins the ledger of a service, changes its renewal, adopts it, accepts a moved folder',
    backup: 'copies the ledger of this machine into a file, while Unit Guard runs',
    restore: 'puts a backup in the place of the ledger, or lets a restored table take over',
    move: 'moves the ledger of this machine into a table on AWS',
    recover: 'books what ran after the time that a ledger was restored to',
  },
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

export const command = defineCommand({
  usage,
  async run() {
    // In the working directory, as npm runs it.
    console.log(listOf(Object.keys(JSON.parse(await readFile('package.json', 'utf8')).scripts)))
    return true
  },
})

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
