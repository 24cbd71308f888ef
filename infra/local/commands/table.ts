import { scopes } from '../../../shared/platform/words.ts'
import { csvColumns } from '../../../shared/records/budget.ts'
import { anyOf, kindsBy, namesOf, productKinds } from '../../../shared/tracking/kinds.ts'
import type { Flags, Form, Given } from './command.ts'

const text = { type: 'string' } as const
const many = { type: 'string', multiple: true } as const
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

Settings come from the environment, such as PORT=9000 npm start. docs/settings.md lists them.`,
  login: form()`Prints a link that logs you in to the dashboard of this machine as its administrator, once, within five minutes.

  npm run login`,
  'demo:month': form()`Fills a new ledger with a month that ends now: teams and their budgets, plans, refusals, approvals, doubts, an overrun, a
reconciliation, all through the guard itself, with the stand-in as the service. Afterwards npm start shows it.

  npm run demo:month

It uses the settings of npm start, which must not be running, and fills only an empty ledger.`,
  'demo:kill': form()`Kills a guard in the middle of a run and starts it again. It shows what was held, what was in doubt, what settled the update,
and that nothing was sent twice.

  npm run demo:kill

It has a ledger, a stand-in of the service and ports of its own, so that another Unit Guard may run. It removes them at the end.
It prints the answers of the guard and the stand-in, and exits with 1 if one is not as promised.`,
  doctor: form({
    project: text,
    id: text,
    'token-file': text,
    answer: text,
    call: text,
    kind: text,
    status: text,
    header: many,
    held: text,
  })`
Looks at the service, the ledger, trusted issuers and targets of events, and says what to set. It only reads: nothing is spent.

  npm run doctor -- [--project <name>] [--id <id>]
  npm run doctor -- --token-file <file>
  npm run doctor -- --answer <file> --call <call> [--kind <kind>] [--status <status>] [--header <header>]… [--held <units>]

  --project     the name of a project, for the estimate of a ${anyOf(kindsBy(productKinds, 'name'))} update; default: the account's first project
  --id          the same project's id, for ${anyOf(kindsBy(productKinds, 'id'))} updates; default: looked up
  --token-file  a file with one bearer token: says why it is refused, and by which line of the issuers' file
  --answer      a file with an answer of your service, or - for the standard input: its body, or all that curl -i prints. Says how
                Unit Guard reads it with the settings of this shell, and which setting would change that. It needs no ledger,
                network or token. --project and --id name the project, so that its name is no sign of a failure
  --call        what the answer answers: run, estimate or dates
  --kind        ${anyOf(namesOf(productKinds))}; default: ${namesOf(productKinds)[0]}
  --status      the status of the answer; default: that of curl -i, or 200
  --header      a header of the answer, such as 'Age: 900'. It may be given more than once
  --held        the units of the hold, to see what a run would be charged`,
  help: form({ all: yes })`Lists the commands that a user needs.

  npm run help
  npm run help -- --all

  --all  lists all commands, also those that repair a ledger or develop Unit Guard`,
  serve: form()`Runs Unit Guard for your own service on this machine, until SIGTERM: no stand-in, no demonstration, the log on stdout.

  npm run serve

Begin the ledger once, with npm run account -- begin. Settings and secrets come from the environment, or from files:
TRACKING_BASE_URL=https://service.example/v3 TRACKING_TOKEN_FILE=… CALLER_KEY_FILE=… npm run serve. docs/settings.md lists them.`,
  token: form({ sub: text, scope: text, budgets: text, expires: text })`Prints a bearer token for a caller.

  npm run token -- --sub <who> --scope "<scopes>" [--budgets <names>] [--expires <time>]

  --sub      the caller: 1 to 128 visible ASCII characters without #, and none of guard, sweep, service, setup and *;
             names such as okta:ada belong to Slack, schedules and trusted issuers
  --scope    the scopes of the caller, separated by spaces: ${scopes.join(' ')}
  --budgets  limits what the caller may charge, not what it may read: these budgets and all below them, separated by
             commas; * is all budgets; default: none
  --expires  how long the token is valid: 30m, 8h, 7d (default: 8h, at most 366d)

The key comes from the Unit Guard that runs here, or on AWS from Secrets Manager. On a machine that has run npm start,
SECRETS_ENDPOINT= npm run token -- … uses AWS. npm run --silent token prints only the token.
A Unit Guard with MINTED_TOKENS=off refuses these tokens: callers then need a token of a trusted issuer (docs/identity.md).`,
  budgets: form({
    'dry-run': yes,
    move: yes,
    prune: yes,
    release: yes,
    'as-written': yes,
    reason: text,
  })`<apply|ids|export> [file]
Creates and changes many budgets from a file, as one revision. It shows the difference first and deletes no budget.

  npm run budgets -- apply <file.csv|json> [--dry-run] [--move] [--prune [--release]] [--as-written] [--reason <text>]
  npm run budgets -- ids [--dry-run]
  npm run budgets -- export

  apply      JSON: {"budgets": [{"name", "parent", "limits", "projects", …}]}, as in PUT /budgets.
             CSV: a header with any of ${csvColumns.join(',')},
             with commas, semicolons or tabs between the cells. In a cell, ; separates approvers, and enforce is true or
             false. Units may be written as 1,200 or 1.200. An apostrophe before a name that a spreadsheet would
             change, such as =1 or 007, is not part of it. More rows of a budget name more of its projects.
             Rows add and change. Missing and empty cells change nothing.
  --dry-run  shows the difference and applies nothing
  --move     moves projects that another budget lists to the budget in the file, with their names and ids
  --prune    removes projects and rules that the file does not name from the budgets that it names. Members without a
             column in a CSV stay. The difference shows what is removed.
  --release  with --prune: also removes projects that no other budget lists; account then pays for them
  --as-written  applies rows although the service lists the project under another id, or cannot list its projects now
  --reason   the reason of the entry
  ids        gives owned projects their missing ids. The service must list an id under exactly the project's name. apply
             does the same for the projects of its file. Existing ids stay, and those that the service contradicts are named.
  export     prints all budgets as a CSV, which apply can read

It calls UNIT_GUARD_URL with UNIT_GUARD_TOKEN (scope admin). Default: the Unit Guard on this machine.`,
  plan: form({ time: text })`<name>
Runs a plan as its rule would, waits for its updates, and reports the outcome of each.

  npm run plan -- <name> [--time <instant>]

  <name>  the name of a plan in the plans file
  --time  the time of the run, in RFC 3339: 2026-11-20T09:00:00Z; default: the current minute. The same plan and time
          never runs a project twice.`,
  why: form({ as: text, kind: text, budget: text })`<project>
Shows every check of an update of a project, in order, and whether it would run. It asks the free estimate and spends nothing.

  npm run why -- <project> [--as <caller>] [--kind <kind>] [--budget <name>]

  <project>  the project's name at the service; its id for ${anyOf(kindsBy(productKinds, 'id'))} updates
  --as       another caller from the list of callers, which needs the scope admin; default: the token's caller
  --kind     ${anyOf(namesOf(productKinds))}; default: ${namesOf(productKinds)[0]}
  --budget   the budget that would pay; default: the project's own budget

Each line has a verdict (passes, refuses, asks, would refuse, unknown), the check and its figure. A budget that only observes
would refuse. It exits with 1 if the update would not run, and with 0 if it would run or wait for approval.
It calls UNIT_GUARD_URL with UNIT_GUARD_TOKEN (scope read). Default: the Unit Guard on this machine.`,
  sweep: form({ at: text })`
Runs one sweep and prints what it did to updates, plans and announcements. Sweeps run by themselves, every minute on one
machine and every five minutes on AWS.

  npm run sweep -- [--at <instant>]

  --at  the time of the sweep, in RFC 3339: 2026-11-20T09:00:00Z, or from now: +2m, +1h, +7d; default: now. Records get
        this time.`,
  events: form({ since: text, until: text })`[<command>] [<target>]
Lists the targets of events, sends one a test event, or sends events again.

  npm run events
  npm run events -- test <target>
  npm run events -- replay <target> --since <instant> [--until <instant>]

  test      sends a signed event of the type unit-guard.test, and prints how the target answered
  replay    sends each event of that time again, with the same id, from the records of the ledger. It may be repeated if
            the target ignores ids that it knows. Ctrl-C stops it, and it says how to continue.
  --since   the first time, in RFC 3339: 2026-11-20T09:00:00Z
  --until   the last time; default: now

EVENT_TARGETS names the file of targets (docs/settings.md).`,
  client: form()`[folder]
Builds the client for programs: a folder with one module and its types, to be copied or published.

  npm run client [-- <folder>]

  <folder>  a new or empty folder, or an earlier build; default: build/client`,
  bundle: form()`Builds the release for one machine: a folder that needs only Node, for the platform of this machine.

  npm run bundle

It writes build/machine: the programs, README.md, units of systemd, a Caddyfile, compose.yml and SHA256SUMS.`,
  openapi: form()`Prints the OpenAPI document of the API, for example to generate a client.

  npm run --silent openapi > openapi.json`,
  sandbox: form()`Starts the stand-in of the tracking service alone, until it is stopped with Ctrl-C.

  npm run sandbox

Settings come from the environment, such as SANDBOX_PORT=9001 npm run sandbox. docs/settings.md lists them.`,
  account: form({
    day: text,
    time: text,
    zone: text,
    left: text,
    difference: text,
    reason: text,
    ran: yes,
    'did-not-run': many,
    'dry-run': yes,
  })`<renewal|adopt|begin|moved|close>
Changes the renewal or the service of a ledger, begins one, or closes a month: settings do not change a ledger by themselves.

  npm run account -- renewal [--day <1-31>] [--time <HH:MM>] [--zone <IANA>] [--dry-run]
  npm run account -- adopt [--dry-run]
  npm run account -- begin
  npm run account -- moved [--dry-run]
  npm run account -- close [--left <units> [--ran] [--did-not-run <id>]… [--reason <text>] [--difference <units>]]

  renewal    lets the billing month turn at another time; the open month is lengthened, never shortened
  adopt      records that the ledger belongs to the service set here (TRACKING_BASE_URL, or the stand-in). Use it if the
             marker of the ledger is lost, or if the same account has moved to a new address.
  begin      begins the ledger of the service TRACKING_BASE_URL with the account settings of this shell, on AWS, or in DATA_DIR
             for npm run serve. npm start begins its own ledger.
  moved      records that DATA_DIR was moved here from another place or disk; it freezes nothing. A copy looks the same, even
             if its original still runs: if you are not sure, use npm run restore -- accept
  close      shows what the open month needs: its doubts, the vendor's figure, what keeps it from final, and the statement. With --left,
             the units that the vendor shows as left now, it shows the difference; with --difference, what it showed, it books it.
             It calls UNIT_GUARD_URL with UNIT_GUARD_TOKEN (scopes read, admin, approve); do it on the last day of the month.
  --ran, --did-not-run  whether the doubts that the figure has ran
  --dry-run  shows what would change, and changes nothing

It opens the ledger of this machine (DATA_DIR); Unit Guard may run. With an empty SECRETS_ENDPOINT it opens the table
TABLE_NAME on AWS, with your credentials.`,
  backup: form()`<file>
Copies the ledger of this machine (DATA_DIR) into a new file and audits the copy. Unit Guard may run; its updates wait
meanwhile. npm run restore -- from <file> puts the copy back. A copy made with cp is not a backup.

  npm run backup -- <file>`,
  compare: form({ with: text })`<file>
Says what a backup lacks: settings, bookings, freezes, callers, updates. It reads two files of one ledger and changes neither.

  npm run compare -- <file> [--with <file>]

  <file>  a file of npm run backup, or any other file of the ledger
  --with  the file to compare it with, such as the ledger.db.before-… that a restore keeps; default: the ledger in DATA_DIR.
          Unit Guard may run. Of a damaged file, all that can be read is compared

It exits with 0 if the backup lacks nothing, and with 1 if it lacks something.`,
  restore: form({ to: text, 'dry-run': yes })`[from|accept] [file]
Lets a backup take over as the ledger, or moves the ledger of this machine into a table of DynamoDB. A backup freezes the
account: book what ran since, reconcile, and unfreeze it. A move freezes nothing.

  npm run restore -- from <file> [--dry-run]
  npm run restore -- accept --to <instant> [--dry-run]
  npm run restore -- --to <table> [--dry-run]

  from       puts a file of npm run backup in the place of ledger.db in DATA_DIR, keeps the earlier one beside it, and accepts the
             new one; stop Unit Guard first. A folder without a ledger also gets its marker.
  accept     accepts a ledger that is already in its place: the file in DATA_DIR, for example after a snapshot of a whole disk,
             or with an empty SECRETS_ENDPOINT the table TABLE_NAME on AWS
  --to       with accept: the time that it was restored to, in RFC 3339: 2026-11-20T09:55:00Z
             alone: the empty table of a stack that was deployed with -c firstLedger=true, its output TableName. The ledger of
             DATA_DIR moves there (docs/deploy.md, "From one machine"). It needs your AWS credentials; stop Unit Guard first.
             Once the move has begun, no other command opens the file
  --dry-run  checks everything, shows what would change, and changes nothing

If it is interrupted, repeat it.`,
  recover: form({ log: text, since: text, 'dry-run': yes })`
Books the updates that are in the log of the guard and not in a restored ledger (docs/deploy.md, "Restoring"; on one machine
docs/one-machine.md, "Backups"). Do it before the reconciliation.

  npm run recover -- --log <file> [--since <instant>] [--dry-run]

  --log      a file of log lines, as journalctl -u unit-guard -o cat and docker logs print them, or of the JSON that
             aws logs filter-log-events prints; - is the standard input
  --since    the time that the ledger was restored to, in RFC 3339; default: the time that npm run restore recorded
  --dry-run  shows what would be booked, and books nothing

It calls UNIT_GUARD_URL with UNIT_GUARD_TOKEN (scopes admin and approve). It may be repeated: nothing is booked twice.`,
} as const satisfies Readonly<Record<string, Form>>

export type CommandName = keyof typeof commands

/** `texts` are the given arguments. The command exits with 1 if this returns `false`. @throws WrongUsage */
export type Run<Name extends CommandName> = (
  given: (typeof commands)[Name] extends { flags: infer F extends Flags } ? Given<F> : object,
  ...texts: string[]
) => Promise<unknown>
