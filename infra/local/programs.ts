import type { CommandName, Run } from './commands/table.ts'

/** Loaded one at a time, because most commands need few modules. */
export const programs: { readonly [Name in CommandName]: () => Promise<{ run: Run<Name> }> } = {
  start: () => import('./start.ts'),
  sandbox: () => import('./sandbox.ts'),
  serve: () => import('./serve.ts'),
  help: () => import('./commands/help.ts'),
  login: () => import('./commands/login.ts'),
  doctor: () => import('./commands/doctor/doctor.ts'),
  token: () => import('./commands/token.ts'),
  budgets: () => import('./commands/budgets.ts'),
  plan: () => import('./commands/plan.ts'),
  why: () => import('./commands/why.ts'),
  sweep: () => import('./commands/sweep.ts'),
  events: () => import('./commands/events/events.ts'),
  account: () => import('./commands/ledger/account.ts'),
  backup: () => import('./commands/ledger/backup.ts'),
  compare: () => import('./commands/ledger/compare.ts'),
  restore: () => import('./commands/ledger/restore.ts'),
  recover: () => import('./commands/ledger/recover.ts'),
  client: () => import('./commands/client.ts'),
  bundle: () => import('./bundle.ts'),
  openapi: () => import('./commands/openapi.ts'),
  'demo:month': () => import('./demo/month.ts'),
  'demo:kill': () => import('./demo/kill.ts'),
}
