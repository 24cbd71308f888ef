import * as z from 'zod/mini'
import { systemClock } from '../../../shared/platform/clock.ts'
import { parseSettings } from '../../../shared/platform/settings.ts'
import { apiSettings, createSend } from '../api-client.ts'
import { CannotContinue } from '../failures.ts'
import { createLoginLink } from '../secrets.ts'
import { commandEnvironment, defineCommand, isInMemory } from './command.ts'
import { openGuard } from './open.ts'

const usage = `Prints a link that logs you in to the dashboard of this machine as its administrator, once, within five minutes.

  npm run login`

export const command = defineCommand({
  usage,
  async run() {
    const env = commandEnvironment()
    const { UNIT_GUARD_URL: url } = parseSettings(z.pick(apiSettings, { UNIT_GUARD_URL: true }), env)
    const health = await createSend({ url })('GET', '/health')
    if (!health.ok)
      throw new CannotContinue(`There is no Unit Guard at ${url}: source the env file of npm start again.`)
    if (isInMemory(env))
      throw new CannotContinue(
        'The ledger is in the memory of npm start, which printed the only link: log in with its token, echo "$UNIT_GUARD_TOKEN".',
      )
    const { services } = await openGuard(env, systemClock)
    if (!services.isLocal)
      throw new CannotContinue(
        'There is no Unit Guard on this machine; on AWS, log in at your identity provider, with a token or with /units login.',
      )
    console.log(await createLoginLink(services))
    return true
  },
})
