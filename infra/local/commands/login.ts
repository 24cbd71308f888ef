import * as z from 'zod/mini'
import { parseSettings } from '../../../shared/platform/settings.ts'
import { apiSettings, createSend } from '../api-client.ts'
import { CannotContinue } from '../failures.ts'
import { createLoginLink } from '../secrets.ts'
import { commandEnvironment, whereIs } from '../where.ts'
import { openGuard } from './open.ts'
import type { Run } from './table.ts'

export const run: Run<'login'> = async () => {
  const env = commandEnvironment()
  const { UNIT_GUARD_URL: url } = parseSettings(z.pick(apiSettings, { UNIT_GUARD_URL: true }), env)
  const health = await createSend({ url })('GET', '/health')
  if (!health.ok) throw new CannotContinue(`There is no Unit Guard at ${url}: source its env file again.`)
  if (whereIs(env).kind === 'memory')
    throw new CannotContinue(
      'The ledger is in the memory of npm start, which printed the only link: log in with its token, echo "$UNIT_GUARD_TOKEN".',
    )
  const { services } = await openGuard()
  if (!services.isLocal)
    throw new CannotContinue(
      'There is no Unit Guard on this machine; on AWS, log in at your identity provider, with a token or with /units login.',
    )
  console.log(await createLoginLink(services))
  return true
}
