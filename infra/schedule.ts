import { createHash } from 'node:crypto'
import { EventField, Rule, Schedule as RuleSchedule, RuleTargetInput } from 'aws-cdk-lib/aws-events'
import { CfnPermission } from 'aws-cdk-lib/aws-lambda'
import { Annotations, Duration, Stack } from 'aws-cdk-lib/core'
import { Construct } from 'constructs'
import type { Plan } from '../shared/guard/plans-file.ts'
import { nearInWords } from '../shared/guard/rules/projects.ts'
import type { DeadLetters } from './dead-letters.ts'
import type { GuardFunction } from './guard-function.ts'

/** https://docs.aws.amazon.com/eventbridge/latest/APIReference/API_PutRule.html */
const maxNameLength = 64
/** A plan that fires later counts as missed. */
const maxEventAge = Duration.hours(1)

export interface ScheduleProps {
  readonly prefix: string
  readonly fn: GuardFunction
  readonly plans: readonly Plan[]
  readonly deadLetters: DeadLetters
  /** The first deployment makes the rules, and the next deployment turns them on. */
  readonly isFirst: boolean
}

export class Schedule extends Construct {
  private readonly props: ScheduleProps

  constructor(scope: Construct, id: string, props: ScheduleProps) {
    super(scope, id)
    this.props = props
    const { prefix, fn, deadLetters } = props
    const rules = Stack.of(this).formatArn({ service: 'events', resource: 'rule', resourceName: `${prefix}-*` })

    // One permission for each rule would exceed the size of the function's policy at about fifty plans.
    new CfnPermission(this, 'MayCall', {
      action: 'lambda:InvokeFunction',
      functionName: fn.lambda.functionArn,
      principal: 'events.amazonaws.com',
      sourceArn: rules,
      sourceAccount: Stack.of(this).account,
    })
    deadLetters.takeFromRules(rules)
    // Lambda, not EventBridge, retries a failed call.
    // https://docs.aws.amazon.com/lambda/latest/dg/invocation-async-error-handling.html
    fn.lambda.configureAsyncInvoke({
      retryAttempts: 2,
      maxEventAge,
      onFailure: deadLetters.takeFrom(fn),
    })

    this.rule('Sweep', 'sweep', 'rate(5 minutes)', { task: 'sweep' })
    this.rule('Digest', 'digest', 'cron(0 6 * * ? *)', { task: 'digest' })
    for (const { name, projects, budget, mayChargeAncestors, schedule } of props.plans.filter(
      ({ enabled }) => enabled,
    )) {
      // Only the ledger knows who owns a project, so npm run doctor names the projects, and this note does not.
      if (budget !== undefined && !mayChargeAncestors)
        Annotations.of(this).addInfoV2(`@unit-guard:${name}`, paysItself(name, budget))
      // The lists of budgets are in the ledger. Without them, only names that look like other numbers are refused.
      const refused = nearInWords({ budgets: {} }, projects)
      if (refused !== null) Annotations.of(this).addInfoV2(`@unit-guard:${name}-names`, `the plan ${name}: ${refused}`)
      // The time of the rule identifies the occurrence, however often its event is delivered.
      this.rule(`Plan-${name}`, planRule(prefix, name), schedule.text, { plan: name, time: EventField.time })
    }
  }

  private rule(id: string, name: string, schedule: string, input: object): void {
    const { prefix, fn, deadLetters, isFirst } = this.props
    const own = { ruleName: `${prefix}-${name}`, schedule: RuleSchedule.expression(schedule) }
    const rule = new Rule(this, id, { ...own, enabled: !isFirst })
    rule.addTarget({
      bind: () => ({
        arn: fn.lambda.functionArn,
        input: RuleTargetInput.fromObject(input),
        retryPolicy: { maximumRetryAttempts: 3, maximumEventAgeInSeconds: maxEventAge.toSeconds() },
        deadLetterConfig: { arn: deadLetters.queue.queueArn },
      }),
    })
  }
}

const paysItself = (plan: string, budget: string): string =>
  `the plan ${plan} names the budget ${budget} without mayChargeAncestors: it is refused for projects that a budget below ${budget} owns`

/** A name that is too long is cut, and a digest keeps it unique. */
function planRule(prefix: string, plan: string): string {
  const name = `plan-${plan}`
  const maxLength = maxNameLength - prefix.length - 1
  if (name.length <= maxLength) return name
  const mark = createHash('sha256').update(plan).digest('hex').slice(0, 8)
  return `${name.slice(0, maxLength - mark.length - 1)}-${mark}`
}
