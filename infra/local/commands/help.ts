import { readFile } from 'node:fs/promises'
import { type CommandName, commands, type Run } from './table.ts'

/** The beginning of a command's usage, which says what the command does. */
function summaryOf(name: CommandName): string {
  const [summary = ''] = /^[^.:;(]+/.exec(commands[name].usage) ?? []
  return `${summary.charAt(0).toLowerCase()}${summary.slice(1)}`.replace(/\s+/g, ' ').trim()
}

const linesOf = (...names: CommandName[]) => Object.fromEntries(names.map((name) => [name, summaryOf(name)]))

export const groups: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'First steps': linesOf('start', 'login', 'demo:month', 'demo:kill', 'doctor', 'help'),
  'Every day': linesOf(
    'serve',
    'account',
    'backup',
    'token',
    'budgets',
    'plan',
    'why',
    'sweep',
    'events',
    'client',
    'bundle',
    'openapi',
  ),
  Repair: linesOf('compare', 'restore', 'recover'),
  Development: {
    sandbox: summaryOf('sandbox'),
    check: 'runs all checks that must pass before a commit',
    'check:static': 'checks format, types and unused code',
    'check:templates': 'checks every CloudFormation template with cfn-lint, which needs Python',
    'check:clients':
      'lets generators of others make clients from the OpenAPI document, and asks the product through two',
    'check:spreadsheets': 'lets LibreOffice and Python write the budgets file again, and applies it',
    format: 'repairs the format',
    test: 'runs the test suite',
    'test:busy': 'runs the tests beside twenty busy processes',
    'test:shuffled': 'runs the tests in random order',
    'test:runtime': 'runs the bundled functions and the unit tests on the Node of Lambda; with suite, all tests',
    'test:conformance': 'runs the official scenarios of the Model Context Protocol',
    'test:deploy': 'rehearses a deployment on an emulator of AWS',
    'test:upgrade': 'rehearses the upgrade of one machine from a commit, and the way back',
    sim: 'runs all schedules of small races, random workloads, and every planted bug',
    kills: 'kills the product at random moments, and compares the ledger with the service',
    figures: 'counts lines, files, words, routes and other parts of this repository',
    leaves: 'takes each feature out of a copy: what of the core and of other features needs it',
    fuzz: 'sends valid and invalid requests of the OpenAPI document, with Schemathesis',
    mutation: 'runs the tests of one part against mutants',
    bench: 'measures the product and writes docs/performance.md and test/bench/results.md',
    faces:
      'plays months of an agency, and compares the figures of all pages, files, messages and agents after each step',
    pictures: 'takes the pictures of the README',
    synth: 'writes the CloudFormation template, offline',
    sbom: 'lists the packages that are shipped to AWS and to one machine, as CycloneDX',
  },
}

const forUsers = ['First steps', 'Every day']

export const run: Run<'help'> = async ({ all }) => {
  // npm runs the command in the folder of package.json.
  const scripts = Object.keys(JSON.parse(await readFile('package.json', 'utf8')).scripts)
  if (all) {
    console.log(listOf(scripts))
    return true
  }
  const needed = Object.entries(groups).flatMap(([group, lines]) =>
    forUsers.includes(group) ? Object.keys(lines) : [],
  )
  console.log(
    `${listOf(scripts.filter((name) => needed.includes(name)))}\nnpm run help -- --all also lists what repairs a ledger or develops Unit Guard.`,
  )
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
