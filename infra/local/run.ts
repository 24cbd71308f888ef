import { runCommand } from './commands/command.ts'
import { type CommandName, commands, type Run } from './commands/table.ts'

type Own = Exclude<CommandName, 'start' | 'sandbox'>

const loads: { readonly [Name in Own]: () => Promise<{ run: Run<Name> }> } = {
  serve: () => import('./serve.ts'),
  help: () => import('./commands/help.ts'),
  login: () => import('./commands/login.ts'),
  doctor: () => import('./commands/doctor.ts'),
  token: () => import('./commands/token.ts'),
  budgets: () => import('./commands/budgets.ts'),
  plan: () => import('./commands/plan.ts'),
  why: () => import('./commands/why.ts'),
  sweep: () => import('./commands/sweep.ts'),
  events: () => import('./commands/events/events.ts'),
  account: () => import('./commands/ledger/account.ts'),
  backup: () => import('./commands/ledger/backup.ts'),
  move: () => import('./commands/ledger/move.ts'),
  restore: () => import('./commands/ledger/restore.ts'),
  recover: () => import('./commands/ledger/recover.ts'),
  client: () => import('./commands/client.ts'),
  bundle: () => import('./bundle.ts'),
  openapi: () => import('./commands/openapi.ts'),
  'demo:month': () => import('./demo/month.ts'),
  'demo:kill': () => import('./demo/kill.ts'),
}

const [typed = 'help', ...args] = process.argv.slice(2)
const name = Object.hasOwn(loads, typed) ? (typed as Own) : 'help'
const code = await runCommand(commands[name], args, loads[name])
process.stdout.write('', () => process.exit(code)) // A pipe takes 64 KiB at once: an earlier exit drops the rest.
