import { readTrustedIssuers } from '../../shared/auth/issuers-file.ts'
import { type Plan, readPlans } from '../../shared/guard/plans-file.ts'
import type { View } from '../../shared/ledger/book/view.ts'
import { rootBudget } from '../../shared/ledger/definitions/definitions.ts'
import { ifUnavailable } from '../../shared/ledger/errors.ts'
import { sandboxService } from '../../shared/ledger/identity.ts'
import { systemClock } from '../../shared/platform/clock.ts'
import { leavesInWords } from '../../shared/reports/plans/verdict.ts'
import type { Services } from '../../shared/services/services.ts'
import { describePlans } from './background.ts'
import { aboutIds, aboutNames } from './commands/attention.ts'
import { settingsHere } from './commands/command.ts'
import { describeIssuers } from './commands/doctor/identity.ts'
import { checkToken } from './commands/doctor/service.ts'
import type { Run } from './commands/table.ts'
import { writeEnvFile } from './data-directory.ts'
import { type LocalLedger, openLedger, openSandbox } from './database/open.ts'
import { demonstrate, demonstration, fillAMonth } from './demo/demonstration.ts'
import { reasonOf } from './failures.ts'
import { createListener, type Listener } from './listener.ts'
import { createGuardLog } from './log/guard-log.ts'
import { createLoginLink, signAdminToken } from './secrets.ts'
import { startServer } from './server.ts'
import {
  type Environment,
  type LocalSettings,
  type LocalSlack,
  localSigningSecret,
  memoryAt,
  recorderChannel,
  recorderToken,
  sandboxToken,
  sandboxUrl,
} from './settings.ts'
import { type Shutdown, untilStopped } from './shutdown.ts'
import { createRecorder } from './slack/recorder.ts'
import { createWorkspace } from './slack/workspace.ts'

export const run: Run<'start'> = () =>
  untilStopped((shutdown) => {
    const local = settingsHere()
    return startTrial(local, shutdown, () => openLedger(local.keptIn, shutdown))
  })

/**
 * Starts the server with a stand-in of the service and a demonstration, and prints what to try next.
 *
 * @param open is called after the ports were taken.
 */
export async function startTrial(local: LocalSettings, shutdown: Shutdown, open: () => Promise<LocalLedger>) {
  const plans = readPlans(local.ownPlans ?? local.guard.PLANS)
  const issuers = readTrustedIssuers(local.guard)
  const main = await createListener({ port: local.port, setting: 'PORT' })
  const sandboxListener =
    local.sandboxPort === null ? null : await createListener({ port: local.sandboxPort, setting: 'SANDBOX_PORT' })
  const ledger = await open()
  const memory = local.keptIn === null ? memoryAt(main.port) : null
  const directory = memory?.directory ?? local.directory
  const { log, file, close } = await createGuardLog(directory)
  shutdown.onStop(close)
  const workspace = sandboxListener && local.recordsSlack ? `${sandboxListener.url}/slack` : null
  const sandbox =
    sandboxListener &&
    (await startSandbox(local, { listener: sandboxListener, shutdown, guardUrl: main.url, workspace }))
  const started = await startServer(local, {
    shutdown,
    main,
    ledger,
    log,
    begins: true,
    // At a user's own service, only requests spend units.
    fires: sandbox === null ? null : plans,
    own: {
      ...(sandbox !== null && { TRACKING_BASE_URL: sandbox, LEDGER_SERVICE: sandboxService }),
      ...(local.ownPlans !== null && { PLANS: local.ownPlans }),
      ...(workspace !== null && { SLACK_API_URL: `${workspace}/api`, SLACK_CHANNEL: recorderChannel }),
    },
  })
  const { services, settings, first } = started

  const token = await signAdminToken(started.callerKey, systemClock.now())
  const own = environmentOf(local, { folder: memory?.DATA_DIR ?? directory, url: main.url, token, sandbox })
  const env = await writeEnvFile(directory, { ...own, ...started.text }, started.found)
  tellParts({
    service: sandbox === null ? settings.TRACKING_BASE_URL : `${sandbox} (the sandbox)`,
    ledger: ledger.where,
    secrets: started.secretsUrl,
    slack: describeSlack(local.slack, workspace),
    plans: describePlans(plans, { areFired: sandbox !== null }),
    ...(issuers.length > 0 && { issuers: describeIssuers(issuers, settings, first?.definitions.budgets) }),
    ...(local.events.to.length > 0 && { events: local.events.to.join(', ') }),
    log: file,
  })
  const names = first && (await aboutNames(services.guard, first).catch(ifUnavailable(null)))
  for (const sentence of [names ?? [], first ? leavesInWords(first, plans) : []].flat()) console.log(`${sentence}\n`)
  if (local.serviceToken === null) {
    console.log('There is no token for the service: every update answers 503 until TRACKING_TOKEN is set.\n')
  }
  if (local.demonstrates) await demonstrate({ url: main.url, token })
  const login = first && (await createLoginLink(services))
  const isKept = local.keptIn !== null
  const hasSandbox = sandbox !== null
  const hasLittle = isKept && hasSandbox && first !== null && hasNoBudgetOfItsOwn(first)
  tellWhatToTry(env, { login, hasSandbox, hasLittle, plans: isKept ? plans : [], ...local })
  console.log(`ready ${main.url}`)
  // Not awaited, because a hanging service must not delay the start.
  if (first && local.serviceToken !== null) tellWrongIds(services, first).catch(() => undefined)
  if (sandbox === null && local.serviceToken !== null)
    checkToken(local.serviceToken, settings).catch((error) =>
      console.error('unit-guard: the token could not be checked:', reasonOf(error)),
    )
}

/** The variables of the env file, without the user's own secrets. */
function environmentOf(
  local: LocalSettings,
  at: { folder: string; url: string; token: string; sandbox: string | null },
): Environment {
  const { folder, url, token, sandbox } = at
  return {
    DATA_DIR: folder,
    UNIT_GUARD_URL: url,
    ...(local.acceptsMinted && { UNIT_GUARD_TOKEN: token }),
    UNIT_GUARD_PID: String(process.pid),
    ...(sandbox !== null && { SANDBOX_URL: sandbox }),
    ...(sandbox !== null && local.serviceToken === sandboxToken && { SANDBOX_TOKEN: sandboxToken }),
    ...(local.slack.signingSecret === localSigningSecret && { SLACK_SIGNING_SECRET: localSigningSecret }),
  }
}

const hasNoBudgetOfItsOwn = ({ definitions }: View): boolean =>
  Object.keys(definitions.budgets).every((name) => [rootBudget, demonstration.budget].includes(name))

async function startSandbox(
  local: LocalSettings,
  parts: { listener: Listener; shutdown: Shutdown; guardUrl: string; workspace: string | null },
): Promise<string> {
  const { listener, shutdown, guardUrl, workspace: url } = parts
  const app = await openSandbox(local, local.serviceToken ?? sandboxToken)
  const recorder = createRecorder({ token: recorderToken, clock: systemClock, told: tellMessage })
  const place = { guardUrl, signingSecret: local.slack.signingSecret, channel: recorderChannel }
  const slack = url === null ? null : createWorkspace(recorder, { ...place, url })
  listener.open({
    fetch: (request, env) =>
      (slack && new URL(request.url).pathname.startsWith('/slack/') ? slack : app).fetch(request, env),
  })
  shutdown.onStop(listener.close)
  return sandboxUrl(listener.port)
}

async function tellWrongIds(services: Services, view: View): Promise<void> {
  for (const sentence of await aboutIds(services, view)) console.log(`Look at an id: ${sentence}.`)
}

function tellParts(parts: Readonly<Record<string, string>>): void {
  console.log('Unit Guard on this machine')
  for (const [name, what] of Object.entries(parts)) console.log(`  ${name.padEnd(8)} ${what}`)
  console.log()
}

function tellMessage({ text, edits }: { readonly text: string; readonly edits: number }): void {
  if (edits === 0) console.log(`slack: ${text.replace(/\s+/g, ' ')}`)
}

function describeSlack({ signingSecret, webhookUrl, botToken }: LocalSlack, workspace: string | null): string {
  const secret = signingSecret === localSigningSecret ? signingSecret : 'the given one'
  const place = botToken ? 'the given channel' : webhookUrl ? 'the given webhook' : 'this terminal'
  return `signing secret: ${secret}; announcements go to ${workspace === null ? place : `this terminal and ${workspace}/`}`
}

function tellWhatToTry(
  envFile: string,
  of: { login: string | null; hasSandbox: boolean; hasLittle: boolean; plans: readonly Plan[]; acceptsMinted: boolean },
): void {
  const { login, hasSandbox, hasLittle, plans, acceptsMinted } = of
  const source = envFile.includes('/') ? envFile : `./${envFile}`
  const get = (path: string) => `curl -sH "Authorization: Bearer $UNIT_GUARD_TOKEN" "$UNIT_GUARD_URL${path}"`
  const plan = plans.find(({ enabled }) => enabled)
  if (login !== null) console.log(`The dashboard, logged in (once, within five minutes):\n  ${login}\n`)
  console.log('Try next, in another terminal:')
  console.log(`  source ${source}`)
  if (!acceptsMinted) console.log('  export UNIT_GUARD_TOKEN=…     # of one of the issuers above')
  if (login !== null) console.log('  npm run login     # prints another link to the dashboard')
  console.log(`  ${get('/budgets')}`)
  if (hasSandbox)
    console.log(
      `  npm run why -- globex --budget ${demonstration.budget}     # every check of the refused update; spends nothing`,
    )
  // Not suggested for a user's own service, where a plan spends units.
  if (hasSandbox && plan) console.log(`  npm run plan -- ${plan.name}`)
  console.log(`  npm run doctor${hasSandbox ? '' : ' -- --project <name>'}`)
  if (hasLittle) console.log(`\nTo look at a month of data, stop this with Ctrl-C, and run:\n${fillAMonth}`)
  console.log()
}
