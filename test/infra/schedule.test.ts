import { describe, expect, test } from 'vitest'
import { readTrigger } from '../../functions/scheduled/triggers.ts'
import { plain, synthesize } from '../support/infra/stack.ts'

const longName = 'a'.repeat(63)
const plan = (name: string, schedule: string, more: object = {}) => ({
  name,
  kind: 'ranking',
  projects: ['acme', 'globex'],
  schedule,
  ...more,
})

const { ofType } = synthesize({
  plans: [
    plan('morning', 'cron(0 5 * * ? *)'),
    plan('often', 'rate(12 hours)'),
    plan('off', 'cron(0 6 * * ? *)', { enabled: false }),
    plan(longName, 'cron(30 5 ? * MON-FRI *)'),
    plan(`${longName.slice(0, 62)}b`, 'cron(30 6 ? * MON-FRI *)'),
  ],
})

/** What synth tells about plans. */
const ofPlans = (told: () => readonly string[]) => told().filter((line) => line.startsWith('the plan'))

test('synth names each enabled plan that may not charge its budget for projects of budgets below it', () => {
  const { told } = synthesize({
    plans: [
      plan('plain', 'rate(12 hours)'),
      plan('night', 'rate(12 hours)', { budget: 'clients' }),
      plan('off', 'rate(12 hours)', { budget: 'clients', enabled: false }),
      plan('may', 'rate(12 hours)', { budget: 'clients', mayChargeAncestors: true }),
    ],
  })
  expect(ofPlans(told)).toEqual([
    expect.stringMatching(
      /^the plan night names the budget clients without mayChargeAncestors: it is refused for projects that a budget below clients owns /,
    ),
  ])
})

test('synth names projects of enabled plans that are refused with any budgets', () => {
  const { told } = synthesize({
    plans: [
      plan('plain', 'rate(12 hours)', { projects: ['shop', '42'] }),
      plan('night', 'rate(12 hours)', { projects: ['shop', '042', '0x2a'] }),
      plan('off', 'rate(12 hours)', { projects: ['042'], enabled: false }),
    ],
  })
  expect(ofPlans(told)).toEqual([
    expect.stringMatching(
      /^the plan night: Requests for 042 and 0x2a are refused: 042 may be read as 42\. Write the number itself/,
    ),
  ])
})

const rules = ofType('AWS::Events::Rule').map(({ Properties }) => plain(Properties))
const ruleNamed = (name: string) => rules.find(({ Name }) => Name === name)

describe('the rules', () => {
  test('the stack has rules for the sweep, the digest and each enabled plan', () => {
    expect(rules.map(({ Name, ScheduleExpression, State }) => [Name, ScheduleExpression, State])).toEqual([
      ['unit-guard-sweep', 'rate(5 minutes)', 'ENABLED'],
      ['unit-guard-digest', 'cron(0 6 * * ? *)', 'ENABLED'],
      ['unit-guard-plan-morning', 'cron(0 5 * * ? *)', 'ENABLED'],
      ['unit-guard-plan-often', 'rate(12 hours)', 'ENABLED'],
      [expect.stringMatching(/^unit-guard-plan-a{39}-[0-9a-f]{8}$/), 'cron(30 5 ? * MON-FRI *)', 'ENABLED'],
      [expect.stringMatching(/^unit-guard-plan-a{39}-[0-9a-f]{8}$/), 'cron(30 6 ? * MON-FRI *)', 'ENABLED'],
    ])
    expect(new Set(rules.map(({ Name }) => Name)).size).toBe(6)
    for (const { Name } of rules) expect(Name.length).toBeLessThanOrEqual(64)
  })

  test('rules retry for an hour and keep undelivered events', () => {
    for (const { Targets } of rules) {
      expect(Targets).toMatchObject([
        {
          Arn: 'ScheduledFunction.Arn',
          RetryPolicy: { MaximumRetryAttempts: 3, MaximumEventAgeInSeconds: 3600 },
          DeadLetterConfig: { Arn: 'DeadLettersQueue.Arn' },
        },
      ])
    }
  })

  test('rules send a task, or a plan with the time of the rule', () => {
    const [sweep] = ruleNamed('unit-guard-sweep').Targets
    const [digest] = ruleNamed('unit-guard-digest').Targets
    expect(readTrigger(JSON.parse(sweep.Input))).toEqual({ task: 'sweep' })
    expect(readTrigger(JSON.parse(digest.Input))).toEqual({ task: 'digest' })
    const [morning] = ruleNamed('unit-guard-plan-morning').Targets
    expect(morning.InputTransformer.InputPathsMap).toEqual({ time: '$.time' })
    // EventBridge inserts a text with its quotes.
    const sent = morning.InputTransformer.InputTemplate.replace('<time>', '"2026-11-20T05:00:00Z"')
    expect(readTrigger(JSON.parse(sent))).toEqual({ plan: 'morning', time: Date.parse('2026-11-20T05:00:00Z') })
  })

  test('only our rules may send dead letters to the queue', () => {
    const [policy] = ofType('AWS::SQS::QueuePolicy').map(({ Properties }) => plain(Properties))
    const allowed = policy.PolicyDocument.Statement.filter(({ Effect }: { Effect: string }) => Effect === 'Allow')
    expect(allowed).toMatchObject([
      {
        Principal: { Service: 'events.amazonaws.com' },
        Resource: 'DeadLettersQueue.Arn',
        Condition: {
          ArnLike: { 'aws:SourceArn': 'arn:AWS::Partition:events:AWS::Region:AWS::AccountId:rule/unit-guard-*' },
        },
      },
    ])
  })
})
