import { scopes } from '../../../shared/platform/words.ts'
import { csvColumns } from '../../../shared/records/budget.ts'
import { anyOf, kindsBy, namesOf, productKinds } from '../../../shared/tracking/kinds.ts'
import type { Flags, Form, Given } from './command.ts'

const text = { type: 'string' } as const
const yes = { type: 'boolean' } as const

/** The usage may begin with a line of arguments that have no option, in brackets if optional. */
const form =
  <const F extends Flags>(flags: F = {} as F) =>
  (texts: TemplateStringsArray, ...values: readonly string[]) => {
    const [, takes = '', usage = ''] = /^([<[][^\n]*)?\n?(.*)$/s.exec(String.raw({ raw: texts }, ...values)) ?? []
    return { flags, takes: takes.split(' ').filter(Boolean), usage }
  }

/** Every command of this folder. Its first sentence is its line in `npm run help`. */
export const commands = {
  start: form()`Starts Unit Guard on this machine, with a stand-in of the service, until it is stopped with Ctrl-C.

  npm start

It takes nothing but settings, from the environment: PORT=9000 npm start. docs/settings.md lists them.`,
  login: form()`Prints a link that logs you in to the dashboard of this machine as its administrator, once, within five minutes.

  npm run login`,
  'demo:month': form()`Fills a new ledger with a month that ends now: teams and their budgets, plans, refusals, approvals, doubts, an overrun, a
reconciliation, all through the guard itself, with the stand-in as the service. Afterwards npm start shows it.

  npm run demo:month

It takes the settings of npm start, which must not be running, and touches no ledger that holds anything.`,
  'demo:kill': form()`Kills a guard in the middle of a run and starts it again: what was held, what was in doubt, what settled it, and that nothing
was sent twice.

  npm run demo:kill

It has a ledger, a stand-in of the service and ports of its own, beside any Unit Guard that runs, and removes them at the end. It
prints what the guard and the stand-in answer, and exits with 1 if that is not what was promised.`,
  doctor: form({ project: text, id: text, 'token-file': text })`
Looks at the service, the ledger, trusted issuers and targets of events, and says what to set. It only reads: nothing is spent.

  npm run doctor -- [--project <name>] [--id <id>]
  npm run doctor -- --token-file <file>

  --project     the project to estimate a ${anyOf(kindsBy(productKinds, 'name'))} update of, by name; the account's first one without it
  --id          the same project's id, for ${anyOf(kindsBy(productKinds, 'id'))} updates; looked up without it
  --token-file  a file with one bearer token: says why it is refused, and by which line of the issuers' file`,
  help: form()`Lists all commands.

  npm run help`,
  serve: form()`Runs Unit Guard for your own service on this machine, until SIGTERM: no stand-in, no demonstration, the log on stdout.

  npm run serve

Begin the ledger once, with npm run account -- begin. Settings and secrets come from the environment, or from files:
TRACKING_BASE_URL=https://service.example/v3 TRACKING_TOKEN_FILE=… CALLER_KEY_FILE=… npm run serve. docs/settings.md lists them.`,
  token: form({ sub: text, scope: text, budgets: text, expires: text })`Prints a bearer token for a caller.

  npm run token -- --sub <who> --scope "<scopes>" [--budgets <names>] [--expires <time>]

  --sub      who calls: 1 to 128 visible ASCII characters without #, and none of guard, sweep, service, setup and *;
             names such as okta:ada belong to Slack, schedules and trusted issuers
  --scope    what they may do, separated by spaces: ${scopes.join(' ')}
  --budgets  limits what they may charge, not what they may read: these budgets and all below them, separated by
             commas; * is all; none without it
  --expires  for how long: 30m, 8h, 7d (8h without it, at most 366d)

The key comes from the Unit Guard that runs here. On AWS it comes from Secrets Manager; on a machine that has run
npm start, say SECRETS_ENDPOINT= npm run token -- … for that. npm run --silent token prints nothing but the token.
A Unit Guard with MINTED_TOKENS=off refuses these tokens: callers then take one of a trusted issuer (docs/identity.md).`,
  budgets: form({ 'dry-run': yes, move: yes, prune: yes, release: yes, reason: text })`<apply|ids|export> [file]
Creates and changes many budgets from a file, as one revision. It shows the difference first and deletes no budget.

  npm run budgets -- apply <file.csv|json> [--dry-run] [--move] [--prune [--release]] [--reason <text>]
  npm run budgets -- ids [--dry-run]
  npm run budgets -- export

  apply      JSON: {"budgets": [{"name", "parent", "limits", "projects", …}]}, as PUT /budgets takes it.
             CSV: a header with any of ${csvColumns.join(',')},
             with commas, semicolons or tabs between the cells. In a cell, ; separates approvers, and enforce is true or
             false. More rows of a budget name more of its projects.
             Rows add and change: what is not named, or is empty, stays as it is.
  --dry-run  shows the difference and applies nothing
  --move     a project that another budget lists moves to the one that the file names, with its name and id
  --prune    removes, from the budgets that the file names, every project and rule that it does not name; what a
             CSV has no column for stays. The difference shows it.
  --release  with --prune: a project may leave its budget although no other budget lists it; account pays for it then
  --reason   the reason of the entry
  ids        gives every owned project without an id the one that the service lists under exactly that name, as apply does
             for the projects of its file; an existing id is never replaced
  export     prints all budgets as such a CSV, to start a file from

It calls UNIT_GUARD_URL with UNIT_GUARD_TOKEN (scope admin): those of the Unit Guard on this machine, unless the environment has others.`,
  plan: form({ time: text })`<name>
Runs a plan as its rule would, waits for its updates, and reports the outcome of each.

  npm run plan -- <name> [--time <instant>]

  <name>  of a plan in the plans file
  --time  the time that it is fired for, in RFC 3339: 2026-11-20T09:00:00Z; the current minute without it. The same
          plan and time never runs a project twice.`,
  why: form({ as: text, kind: text, budget: text })`<project>
Shows every check of an update of a project, in order, and whether it would run. It asks the free estimate and spends nothing.

  npm run why -- <project> [--as <caller>] [--kind <kind>] [--budget <name>]

  <project>  as the service names it; its id for ${anyOf(kindsBy(productKinds, 'id'))} updates
  --as       another caller than that of the token, as the list of callers has it; needs the scope admin
  --kind     ${anyOf(namesOf(productKinds))}; ${namesOf(productKinds)[0]} without it
  --budget   who would pay; the project's own budget without it

Each line says passes, refuses, asks, would refuse (a budget that only observes) or unknown, what was checked, and its figure.
It exits with 1 if the update would not run, and with 0 if it would run or wait for approval.
It calls UNIT_GUARD_URL with UNIT_GUARD_TOKEN (scope read): those of the Unit Guard on this machine, unless the environment has others.`,
  sweep: form({ at: text })`
Runs one sweep and prints what it did to updates, plans and announcements. Sweeps run by themselves, every minute on one
machine and every five minutes on AWS.

  npm run sweep -- [--at <instant>]

  --at  the time of the sweep, in RFC 3339: 2026-11-20T09:00:00Z, or after a duration: +2m, +1h, +7d; now without it.
        Records get this time.`,
  events: form({ since: text, until: text })`[<command>] [<target>]
Lists the targets of events, sends one a test event, or sends events again.

  npm run events
  npm run events -- test <target>
  npm run events -- replay <target> --since <instant> [--until <instant>]

  test      sends a signed event of the type unit-guard.test, and prints how the target answered
  replay    sends each event of that time again, with the same id, from the records of the ledger. A target that knows ids takes none
            twice, so it may be repeated. Ctrl-C stops it, and it says how to continue.
  --since   the first time, in RFC 3339: 2026-11-20T09:00:00Z
  --until   the last time; now without it

The targets are those of EVENT_TARGETS; with EVENT_BUS there is a target bus (docs/settings.md).`,
  client: form()`[folder]
Builds the client for programs: a folder with one module and its types, to be copied or published.

  npm run client [-- <folder>]

  <folder>  one that is new, empty, or of an earlier build; build/client without it`,
  bundle: form()`Builds what runs on one machine: a folder that needs nothing but Node, for the platform of this one.

  npm run bundle

It writes build/machine.`,
  openapi: form()`Prints the OpenAPI document of the API, such as to generate a client from it.

  npm run --silent openapi > openapi.json`,
  sandbox: form()`Starts the stand-in of the tracking service alone, until it is stopped with Ctrl-C.

  npm run sandbox

It takes nothing but settings, from the environment: SANDBOX_PORT=9001 npm run sandbox. docs/settings.md lists them.`,
  account: form({ day: text, time: text, zone: text, 'dry-run': yes })`<renewal|adopt|begin|moved>
Changes the renewal or the service of a ledger, or begins one: settings do not change a ledger by themselves.

  npm run account -- renewal [--day <1-31>] [--time <HH:MM>] [--zone <IANA>] [--dry-run]
  npm run account -- adopt [--dry-run]
  npm run account -- begin
  npm run account -- moved [--dry-run]

  renewal    lets the billing month turn at another time; the open month is lengthened, never shortened
  adopt      says that the ledger belongs to the service that is set here (TRACKING_BASE_URL, or the stand-in): for a
             ledger whose marker is lost, or where the same account has moved to a new address
  begin      begins the ledger of the service TRACKING_BASE_URL, once, with the account settings of this shell: on AWS, or in
             DATA_DIR for npm run serve; npm start begins its own by itself
  moved      says that DATA_DIR was moved here from another place or disk; it freezes nothing. A copy looks the same, even if
             its original still runs: if you are not sure, use npm run restore -- accept
  --dry-run  shows what would change, and changes nothing

It opens the ledger of this machine (DATA_DIR), whether Unit Guard runs or not. With SECRETS_ENDPOINT set to nothing it opens
the table TABLE_NAME on AWS, with your credentials.`,
  backup: form()`<file>
Copies the ledger of this machine (DATA_DIR) into a new file and audits the copy, while Unit Guard runs; updates wait
meanwhile. npm run restore -- from <file> puts it back. A copy made with cp is no backup.

  npm run backup -- <file>`,
  restore: form({ to: text, 'dry-run': yes })`<from|accept> [file]
Lets a backup take over as the ledger. It freezes the account: book what ran since, reconcile, and unfreeze it.

  npm run restore -- from <file> [--dry-run]
  npm run restore -- accept --to <instant> [--dry-run]

  from       puts a file of npm run backup in the place of ledger.db in DATA_DIR, keeps the earlier one beside it, and accepts the
             new one; stop Unit Guard first. A folder without a ledger also gets its marker.
  accept     accepts what is in its place already: with SECRETS_ENDPOINT set to nothing the table TABLE_NAME on AWS, else the
             file in DATA_DIR, for example after a snapshot of a whole disk
  --to       the time that it was restored to, in RFC 3339: 2026-11-20T09:55:00Z
  --dry-run  shows what would change, and changes nothing

If one is interrupted, repeat it.`,
  move: form({ 'dry-run': yes })`<table>
Moves the ledger of this machine into a table of DynamoDB, which the next deployment uses (docs/deploy.md, "From one machine").

  npm run move -- <table> [--dry-run]

  table      the empty table of a stack that was deployed with -c firstLedger=true: its output TableName
  --dry-run  checks everything, and changes nothing

It needs your AWS credentials, and that no Unit Guard runs on DATA_DIR. If it is interrupted, repeat it; once it has
begun, nothing else opens the file.`,
  recover: form({ log: text, since: text, 'dry-run': yes })`
Books what ran after the time that a ledger was restored to, as the log of the guard says (docs/deploy.md, "Restoring").

  npm run recover -- --log <file> [--since <instant>] [--dry-run]

  --log      a file of log lines, or what aws logs filter-log-events printed as JSON
  --since    the time that the ledger was restored to, in RFC 3339; without it, what npm run restore was told
  --dry-run  shows what would be booked, and books nothing

It calls UNIT_GUARD_URL with UNIT_GUARD_TOKEN (scopes admin and approve). It may be repeated: nothing is booked twice.`,
} as const satisfies Readonly<Record<string, Form>>

export type CommandName = keyof typeof commands

/** Gets one text for each argument given. Exits with 1 if it returns `false`. @throws WrongUsage */
export type Run<Name extends CommandName> = (
  given: (typeof commands)[Name] extends { flags: infer F extends Flags } ? Given<F> : object,
  ...texts: string[]
) => Promise<unknown>
