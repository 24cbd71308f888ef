import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { examineAlarms } from '../../../infra/local/commands/doctor/alarms.ts'

const topic = 'arn:aws:sns:us-west-2:123456789012:my-topic'
const other = 'arn:aws:sns:us-west-2:123456789012:other-topic'

/** An answer of AWS, shortened. https://docs.aws.amazon.com/cli/latest/reference/cloudwatch/describe-alarms.html */
const alarm = (Namespace: string | undefined, ...AlarmActions: string[]) => ({
  AlarmName: 'myalarm',
  ActionsEnabled: true,
  AlarmActions,
  StateValue: 'OK',
  MetricName: 'UnitsLines',
  ...(Namespace && { Namespace }),
})

/** https://docs.aws.amazon.com/cli/latest/reference/sns/list-subscriptions-by-topic.html */
const subscription = (SubscriptionArn: string, Endpoint = 'my-email@example.com') => ({
  SubscriptionArn,
  Owner: '123456789012',
  Protocol: 'email',
  Endpoint,
  TopicArn: topic,
})
const confirmed = `${topic}:8a21d249-4329-4871-acc6-7be709c6ea7f`

/** An `aws` command that knows these answers. */
async function examine(
  answers: { alarms?: unknown; subscriptions?: Readonly<Record<string, unknown>>; fails?: string },
  more: Record<string, string> = {},
) {
  const folder = await mkdtemp(join(tmpdir(), 'unit-guard-aws-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const script = `#!${process.execPath}
    const [service, call, ...more] = process.argv.slice(2)
    const { alarms, subscriptions = {}, fails } = ${JSON.stringify(answers)}
    if (fails) { process.stderr.write(fails); process.exit(254) }
    if (!more.join(' ').endsWith('--region us-west-2 --output json')) process.exit(2)
    const of = more[more.indexOf('--topic-arn') + 1]
    const answer = service === 'cloudwatch' ? { MetricAlarms: alarms } : { Subscriptions: subscriptions[of] }
    process.stdout.write(JSON.stringify(answer))`
  await writeFile(join(folder, 'aws'), script)
  await chmod(join(folder, 'aws'), 0o755)
  const PATH = [folder, process.env.PATH].join(delimiter)
  return examineAlarms({ PATH, AWS_REGION: 'us-west-2', ...more })
}

test('the doctor names the receiver that never confirmed, and how to get another mail', async () => {
  const { lines, toDo } = await examine({
    alarms: [alarm('UnitGuard', topic), alarm('UnitGuard', topic), alarm('AWS/EC2', other), alarm(undefined, other)],
    subscriptions: { [topic]: [subscription('PendingConfirmation'), subscription(confirmed, 'ops@example.com')] },
  })
  expect(lines).toEqual([
    'my-email@example.com has not confirmed that it wants alarms (email)',
    'ops@example.com gets alarms (email)',
  ])
  expect(toDo).toEqual([
    `follow the link in the mail of AWS to my-email@example.com, which gets no alarms before. AWS deletes a subscription that is not confirmed within 48 hours; for another mail, run aws sns subscribe --topic-arn ${topic} --protocol email --notification-endpoint my-email@example.com`,
  ])
})

test('the doctor finds no fault in a confirmed receiver, and shows other actions of alarms', async () => {
  const incident = 'arn:aws:ssm-incidents::123456789012:response-plan/us'
  const { lines, toDo } = await examine({
    alarms: [alarm('UnitGuard', topic, incident)],
    subscriptions: { [topic]: [subscription(confirmed)] },
  })
  expect([lines, toDo]).toEqual([['my-email@example.com gets alarms (email)', `alarms start ${incident}`], []])
})

test.each([
  ['no subscription', []],
  ['a deleted subscription', [subscription('Deleted')]],
])('the doctor says that a topic with %s has no receiver', async (_what, all) => {
  const { toDo } = await examine({ alarms: [alarm('UnitGuard', topic)], subscriptions: { [topic]: all } })
  expect(toDo.join()).toMatch(
    /^give the alarms a receiver, because their topic has none\. .* --notification-endpoint <address>$/,
  )
})

test('the doctor looks at the alarms of the guard with this prefix alone', async () => {
  const answers = {
    alarms: [alarm('UnitGuard', topic), alarm('unit-guard-dev')],
    subscriptions: { [topic]: [subscription('PendingConfirmation')] },
  }
  expect(await examine(answers, { GUARD_PREFIX: 'unit-guard-dev' })).toEqual({
    lines: ['no one gets alarms'],
    toDo: ['deploy with alarmEmail: no one gets alarms'],
  })
  expect(await examine(answers, { GUARD_PREFIX: 'unit-guard-two' })).toEqual({
    lines: ['there is no alarm on unit-guard-two in this region'],
    toDo: [],
  })
})

test.each<[string, Parameters<typeof examine>[0], Record<string, string>, string]>([
  ['there is no aws command', {}, { PATH: '/nowhere' }, 'there is no aws command (pip install awscli)'],
  [
    'AWS refuses the call',
    { fails: '\nAn error occurred (AccessDenied) when calling the DescribeAlarms operation: no\n' },
    {},
    'An error occurred (AccessDenied) when calling the DescribeAlarms operation: no',
  ],
  ['the answer is another one', { alarms: 'none' }, {}, 'the answer to aws cloudwatch describe-alarms cannot be read'],
])('the doctor says why it does not know who gets alarms if %s', async (_what, answers, env, why) => {
  expect(await examine(answers, env)).toEqual({ lines: [`who gets alarms is not known: ${why}`], toDo: [] })
})
