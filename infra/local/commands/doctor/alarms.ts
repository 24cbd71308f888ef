import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import * as z from 'zod/mini'
import { parseLenientJson } from '../../../../shared/platform/json.ts'
import { namespaceOf, usualPrefix } from '../../../../shared/platform/prefix.ts'
import type { Environment } from '../../settings.ts'
import { type Findings, found, joined } from '../findings.ts'

const run = promisify(execFile)
const maxBuffer = 64 * 1024 * 1024
const withinMs = 30_000

const alarms = z.object({
  MetricAlarms: z.array(z.object({ Namespace: z.optional(z.string()), AlarmActions: z.array(z.string()) })),
})
const subscriptions = z.object({
  Subscriptions: z.array(z.object({ SubscriptionArn: z.string(), Protocol: z.string(), Endpoint: z.string() })),
})

const afresh = 'AWS deletes a subscription that is not confirmed within 48 hours; for another mail, run'

/** Asks with the AWS CLI, because the functions need no client of these services. */
export async function examineAlarms(env: Environment): Promise<Findings> {
  const namespace = namespaceOf(env.GUARD_PREFIX || usualPrefix)
  try {
    const { MetricAlarms: all } = await aws(env, alarms, 'cloudwatch', 'describe-alarms')
    const ours = all.filter(({ Namespace }) => Namespace === namespace)
    if (ours.length === 0) return found(`there is no alarm on ${namespace} in this region`)
    const actions = new Set(ours.flatMap(({ AlarmActions }) => AlarmActions))
    if (actions.size === 0) return found('no one gets alarms', 'deploy with alarmEmail: no one gets alarms')
    return joined(await Promise.all([...actions].map((action) => examineAction(env, action))))
  } catch (error) {
    return found(`who gets alarms is not known: ${failureReason(error)}`)
  }
}

async function examineAction(env: Environment, action: string): Promise<Findings> {
  if (!/^arn:[\w-]+:sns:/.test(action)) return found(`alarms start ${action}`)
  const { Subscriptions: all } = await aws(
    env,
    subscriptions,
    'sns',
    'list-subscriptions-by-topic',
    '--topic-arn',
    action,
  )
  const subscribe = (protocol: string, endpoint: string) =>
    `aws sns subscribe --topic-arn ${action} --protocol ${protocol} --notification-endpoint ${endpoint}`
  const there = all.filter(({ SubscriptionArn }) => SubscriptionArn !== 'Deleted')
  if (there.length === 0) {
    const toDo = `give the alarms a receiver, because their topic has none. ${afresh} ${subscribe('email', '<address>')}`
    return found(`no one gets the alarms of ${action}`, toDo)
  }
  return joined(
    there.map(({ SubscriptionArn, Protocol, Endpoint }) => {
      if (SubscriptionArn !== 'PendingConfirmation') return found(`${Endpoint} gets alarms (${Protocol})`)
      const toDo = `follow the link in the mail of AWS to ${Endpoint}, which gets no alarms before. ${afresh} ${subscribe(Protocol, Endpoint)}`
      return found(`${Endpoint} has not confirmed that it wants alarms (${Protocol})`, toDo)
    }),
  )
}

async function aws<Schema extends z.ZodMiniType>(
  env: Environment,
  schema: Schema,
  ...args: readonly string[]
): Promise<z.output<Schema>> {
  // Version 1 of the CLI reads AWS_DEFAULT_REGION alone.
  const region = env.AWS_REGION ? ['--region', env.AWS_REGION] : []
  const how = { env: { ...env, AWS_PAGER: '' }, maxBuffer, timeout: withinMs }
  const { stdout } = await run('aws', [...args, ...region, '--output', 'json'], how)
  const read = schema.safeParse(parseLenientJson(stdout))
  if (!read.success) throw new Error(`the answer to aws ${args.slice(0, 2).join(' ')} cannot be read`)
  return read.data
}

function failureReason(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if ('code' in error && error.code === 'ENOENT') return 'there is no aws command (pip install awscli)'
  const said = 'stderr' in error ? String(error.stderr).trim() : ''
  return said.split('\n')[0] || error.message
}
