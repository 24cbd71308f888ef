import { type Command, runCommand } from './commands/command.ts'

// `npm run budgets -- …` is `run.ts budgets …`. Each command is loaded alone, because most need few modules.
const commands: Readonly<Record<string, () => Promise<{ command: Command }>>> = {
  serve: () => import('./serve.ts'),
  help: () => import('./commands/help.ts'),
  login: () => import('./commands/login.ts'),
  doctor: () => import('./commands/doctor.ts'),
  token: () => import('./commands/token.ts'),
  budgets: () => import('./commands/budgets.ts'),
  plan: () => import('./commands/plan.ts'),
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
}

const [name = 'help', ...args] = process.argv.slice(2)
const load = commands[name] ?? (() => import('./commands/help.ts'))
process.exit(await runCommand((await load()).command, args))
