import type { Plan } from '../../shared/guard/plans/plans-file.ts'
import { type LocalSlack, localSigningSecret } from './settings.ts'

/** What `npm start` says about itself. */

export function tellParts(parts: Readonly<Record<string, string>>): void {
  console.log('Unit Guard on this machine')
  for (const [name, what] of Object.entries(parts)) console.log(`  ${name.padEnd(8)} ${what}`)
  console.log()
}

export function describeSlack({ signingSecret, webhookUrl }: LocalSlack): string {
  const secret = signingSecret === localSigningSecret ? signingSecret : 'the given one'
  return `signing secret: ${secret}; announcements go to ${webhookUrl === undefined ? 'this terminal' : 'the given webhook'}`
}

export function describePlans(plans: readonly Plan[], { areFired }: { areFired: boolean }): string {
  if (plans.length === 0) return 'none; PLANS names a file of them'
  const names = plans.map(({ name, enabled, schedule }) => `${name} ${enabled ? schedule.text : '(not enabled)'}`)
  return `${names.join(', ')}${areFired ? '' : '; fired by npm run plan alone'}`
}

/** Where a month of made-up updates is kept: a ledger that is used takes none. */
export const fillAMonth = ['  DATA_DIR=.local/month npm run demo:month', '  DATA_DIR=.local/month npm start'].join('\n')

/** @param of.hasLittle this ledger has nothing yet that is worth a look. */
export function tellWhatToTry(
  envFile: string,
  of: { url: string; hasSandbox: boolean; hasLittle: boolean; plans: readonly Plan[] },
): void {
  const { url, hasSandbox, hasLittle, plans } = of
  const source = envFile.includes('/') ? envFile : `./${envFile}`
  const get = (path: string) => `curl -sH "Authorization: Bearer $UNIT_GUARD_TOKEN" "$UNIT_GUARD_URL${path}"`
  const plan = plans.find(({ enabled }) => enabled)
  console.log('Try next, in another terminal:')
  console.log(`  source ${source}`)
  console.log(`  echo "$UNIT_GUARD_TOKEN"     # logs in to the dashboard, at ${url}`)
  console.log(`  ${get('/budgets')}`)
  if (hasSandbox) console.log(`  ${get('/estimates?kind=ranking&project=initech')}`)
  // It spends: on a user's own service only a user who looks for it shall find it.
  if (hasSandbox && plan) console.log(`  npm run plan -- ${plan.name}`)
  console.log(`  npm run doctor${hasSandbox ? '' : ' -- --project <name>'}`)
  if (hasLittle) console.log(`\nFor a month to look at, stop this with Ctrl-C, and:\n${fillAMonth}`)
  console.log()
}
