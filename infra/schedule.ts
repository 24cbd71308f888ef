import { createHash } from 'node:crypto'
import { EventField, Rule, Schedule as RuleSchedule, RuleTargetInput } from 'aws-cdk-lib/aws-events'
import { CfnPermission } from 'aws-cdk-lib/aws-lambda'
import { Annotations, Duration, Stack } from 'aws-cdk-lib/core'
import { Construct } from 'constructs'
import type { Plan } from '../shared/guard/plans/plans-file.ts'
import type { DeadLetters } from './dead-letters.ts'
import type { GuardFunction } from './guard-function.ts'

/** Every rule's name begins so, and the function may be called by rules of such a name. */
const prefix = 'unit-guard-'
/** https://docs.aws.amazon.com/eventbridge/latest/APIReference/API_PutRule.html */
const longestName = 64
/** A plan that comes later than that is missed, so nothing is worth delivering later. */
const oldestEvent = Duration.hours(1)

export interface ScheduleProps {
  readonly fn: GuardFunction
  readonly plans: readonly Plan[]
  readonly deadLetters: DeadLetters
}

/** What happens by the clock: one rule for each enabled plan, one for the sweep, one for the digest and the audit. */
export class Schedule extends Construct {
  private readonly props: ScheduleProps

  constructor(scope: Construct, id: string, props: ScheduleProps) {
    super(scope, id)
    this.props = props
    const { fn, deadLetters } = props
    const rules = Stack.of(this).formatArn({ service: 'events', resource: 'rule', resourceName: `${prefix}*` })

    // One for all: a permission for each rule would overrun the size of the function's policy near fifty plans.
    new CfnPermission(this, 'MayCall', {
      action: 'lambda:InvokeFunction',
      functionName: fn.lambda.functionArn,
      principal: 'events.amazonaws.com',
      sourceArn: rules,
      sourceAccount: Stack.of(this).account,
    })
    deadLetters.takeFromRules(rules)
    // EventBridge only hands over; that the function fails is known to Lambda, which tries again by itself.
    // https://docs.aws.amazon.com/lambda/latest/dg/invocation-async-error-handling.html
    fn.lambda.configureAsyncInvoke({
      retryAttempts: 2,
      maxEventAge: oldestEvent,
      onFailure: deadLetters.takeFrom(fn),
    })

    this.rule('Sweep', 'sweep', 'rate(5 minutes)', { task: 'sweep' })
    this.rule('Digest', 'digest', 'cron(0 6 * * ? *)', { task: 'digest' })
    for (const { name, budget, mayChargeAncestors, schedule } of props.plans.filter(({ enabled }) => enabled)) {
      // Who owns which project is known to the ledger alone: there `npm run doctor` names the projects.
      if (budget !== undefined && !mayChargeAncestors)
        Annotations.of(this).addInfoV2(`@unit-guard:${name}`, paysItself(name, budget))
      // The rule's own time, not the one of its delivery: by it the occurrence is known, however often it comes.
      this.rule(`Plan-${name}`, planRule(name), schedule.text, { plan: name, time: EventField.time })
    }
  }

  private rule(id: string, name: string, schedule: string, input: object): void {
    const { fn, deadLetters } = this.props
    const rule = new Rule(this, id, { ruleName: `${prefix}${name}`, schedule: RuleSchedule.expression(schedule) })
    rule.addTarget({
      bind: () => ({
        arn: fn.lambda.functionArn,
        input: RuleTargetInput.fromObject(input),
        retryPolicy: { maximumRetryAttempts: 3, maximumEventAgeInSeconds: oldestEvent.toSeconds() },
        deadLetterConfig: { arn: deadLetters.queue.queueArn },
      }),
    })
  }
}

const paysItself = (plan: string, budget: string): string =>
  `the plan ${plan} names the budget ${budget} without mayChargeAncestors: it is refused for projects that a budget below ${budget} owns`

/** A name that is too long is cut, and stays the only one of its kind. */
function planRule(plan: string): string {
  const name = `plan-${plan}`
  const longest = longestName - prefix.length
  if (name.length <= longest) return name
  const mark = createHash('sha256').update(plan).digest('hex').slice(0, 8)
  return `${name.slice(0, longest - mark.length - 1)}-${mark}`
}
