import { handle } from 'hono/aws-lambda'
import { openSlackLedger } from '../../shared/ledger/slack-ledger.ts'
import { systemClock } from '../../shared/platform/clock.ts'
import { edgeOf } from '../../shared/platform/edge.ts'
import { createLog, inInvocation } from '../../shared/platform/log.ts'
import { createSecret, createSecretsClient } from '../../shared/platform/secrets.ts'
import { environment, ledgerOnlySettings, parseSettings } from '../../shared/platform/settings.ts'
import { createSlackClientOf } from '../../shared/slack/tell/client.ts'
import { createSlackApp } from './app.ts'

const settings = parseSettings(ledgerOnlySettings, environment())
const log = createLog({ write: (line) => process.stdout.write(`${line}\n`), now: systemClock.now })
const secrets = {
  client: createSecretsClient(settings.SECRETS_ENDPOINT, settings.SECRETS_ACCESS_KEY),
  clock: systemClock,
  log,
}

const client = createSlackClientOf({
  clock: systemClock,
  log,
  isLocal: settings.SECRETS_ENDPOINT !== undefined,
  slackApi: { url: settings.SLACK_API_URL },
})

const answer = handle(
  createSlackApp({
    ledger: openSlackLedger(settings, { clock: systemClock }),
    secret: createSecret({ ...secrets, id: settings.SLACK_SECRET }),
    edge: edgeOf(settings, secrets),
    client,
    clock: systemClock,
    log,
  }),
)

/** May read Slack's secret and the edge's, but not the service token. */
export const handler: typeof answer = (event, context) =>
  inInvocation({ function: 'slack', lambdaRequestId: context?.awsRequestId }, () => answer(event, context))
