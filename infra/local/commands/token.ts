import { longestLifeSeconds, subject } from '../../../shared/auth/tokens.ts'
import { systemClock } from '../../../shared/platform/clock.ts'
import { parseSettings, secretSettings } from '../../../shared/platform/settings.ts'
import { issuerForm, type Scope, scopes } from '../../../shared/platform/words.ts'
import { budgetName } from '../../../shared/records/common-fields.ts'
import { CannotContinue } from '../failures.ts'
import { readSecret, signCallerToken } from '../secrets.ts'
import { commandEnvironment } from '../where.ts'
import { noSuch, parseDuration, WrongUsage } from './command.ts'
import type { Run } from './table.ts'

export const run: Run<'token'> = async ({ sub = '', scope = '', budgets, expires = '8h' }) => {
  if (sub === '') throw new WrongUsage('--sub is needed')
  if (issuerForm.test(sub))
    throw new WrongUsage(
      `--sub: ${sub} would be refused: names that begin like ${sub.split(':')[0]}: belong to Slack, schedules and trusted issuers; leave the colon out`,
    )
  if (!subject.safeParse(sub).success)
    throw new WrongUsage(
      '--sub must be 1 to 128 visible characters without blanks and #, must not end with *, and must not be a reserved name',
    )
  const claims = {
    sub,
    scopes: toScopes(scope),
    ...(budgets !== undefined && { budgets: toBudgets(budgets) }),
    lastsMs: toMs(expires),
  }
  const env = commandEnvironment()
  if (env.MINTED_TOKENS === 'off')
    throw new CannotContinue(
      'This Unit Guard refuses tokens of npm run token (MINTED_TOKENS=off): take one of a trusted issuer (docs/identity.md).',
    )
  const settings = parseSettings(secretSettings, env)
  const key = await readSecret(settings.CALLER_KEY_SECRET, settings)
  console.log(await signCallerToken({ ...claims, key, now: systemClock.now() }))
  return true
}

function toScopes(text: string): Scope[] {
  const names = text.split(/[\s,]+/).filter((name) => name !== '')
  const unknown = names.find((name) => !scopes.some((scope) => scope === name))
  if (unknown !== undefined) throw new WrongUsage(`--scope: ${noSuch('scope', unknown, scopes)}`)
  if (names.length === 0) throw new WrongUsage('--scope is needed')
  return scopes.filter((scope) => names.includes(scope))
}

function toBudgets(text: string): '*' | string[] {
  if (text.trim() === '*') return '*'
  const names = text.split(',').map((name) => name.trim())
  const wrong = names.find((name) => !budgetName.safeParse(name).success)
  if (wrong !== undefined) throw new WrongUsage(`--budgets: ${JSON.stringify(wrong)} is not the name of a budget`)
  return names
}

function toMs(text: string): number {
  const ms = parseDuration(text) ?? 0
  if (ms > 0 && ms <= longestLifeSeconds * 1000) return ms
  throw new WrongUsage('--expires must be a time such as 30m, 8h or 7d, at most 366d')
}
