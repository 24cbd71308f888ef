import { Alarm, ComparisonOperator, type IMetric, MathExpression, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch'
import { LambdaDeploymentConfig, LambdaDeploymentGroup } from 'aws-cdk-lib/aws-codedeploy'
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import type { CfnVersion } from 'aws-cdk-lib/aws-lambda'
import { FilterPattern, type ILogGroup, MetricFilter } from 'aws-cdk-lib/aws-logs'
import { RemovalPolicy } from 'aws-cdk-lib/core'
import { Construct } from 'constructs'
import { namespaceOf } from './alarms/alarms.ts'
import { fiveMinutes, LogMetrics, logMetrics } from './alarms/metrics.ts'
import { acknowledge, type GuardFunction } from './guard-function.ts'

const aliasName = 'live'

export interface CanaryProps {
  readonly fn: GuardFunction
  readonly logGroup: ILogGroup
  readonly prefix: string
  /** Of the ledger. A version keeps its environment, so a new marker needs a new version, also where no code changed. */
  readonly marker: string
  /** Without it a new version takes all calls at once. */
  readonly isOn: boolean
}

/** A new version of the API gets a tenth of the calls for ten minutes, and all if none of its alarms is raised. */
export class Canary extends Construct {
  readonly url: string

  constructor(scope: Construct, id: string, props: CanaryProps) {
    super(scope, id)
    const { fn, marker, isOn } = props
    const version = fn.lambda.currentVersion
    // Calls that began in an old version end there.
    version.applyRemovalPolicy(RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE)
    ;(version.node.defaultChild as CfnVersion).description = marker
    const alias = fn.lambda.addAlias(aliasName)
    this.url = fn.openUrl({ streams: true, of: alias }).url
    const role = this.roleFor(fn)
    const group = new LambdaDeploymentGroup(this, 'Deployments', {
      alias,
      alarms: this.alarmsOf(props, version.version),
      // It would attach a policy of AWS that may change the aliases of every function.
      role: role.withoutPolicyUpdates(),
      deploymentConfig: isOn ? LambdaDeploymentConfig.CANARY_10PERCENT_10MINUTES : LambdaDeploymentConfig.ALL_AT_ONCE,
      ignoreAlarmConfiguration: !isOn,
      autoRollback: { failedDeployment: true, stoppedDeployment: true, deploymentInAlarm: isOn },
    })
    group.node.addDependency(role)
  }

  /** What only the function's own code or settings cause: not the service, not a full budget, and not many at once. */
  private alarmsOf({ fn, logGroup, prefix }: CanaryProps, version: string): Alarm[] {
    const metrics = new LogMetrics(namespaceOf(prefix))
    const count = (metricName: string, pattern: string) => {
      new MetricFilter(this, metricName, {
        ...{ logGroup, metricNamespace: metrics.namespace, metricName, metricValue: '1' },
        filterPattern: FilterPattern.literal(`{ $.function = "api" && ${pattern} }`),
        dimensions: { version: '$.version' },
      })
      return metrics.sum(metricName, { version })
    }
    const { functionName } = fn.lambda
    const ofVersion = {
      ...{ FunctionName: functionName, Resource: `${functionName}:${aliasName}`, ExecutedVersion: version },
    }
    const failed = fn.lambda.metric('Errors', { dimensionsMap: ofVersion, statistic: 'Sum', period: fiveMinutes })
    const broken = count(logMetrics.apiBroken, '$.event = "answer-broken"')
    // A call whose answer broke off has to fail, but the function did nothing wrong. Where data are missing, an alarm looks
    // further back, where a call may be without its line.
    const crashes = new MathExpression({
      ...{ expression: 'FILL(failed, 0) - FILL(broken, 0)', usingMetrics: { failed, broken }, label: 'Crashes' },
      period: fiveMinutes,
    })
    return [
      this.alarm('Crashes', crashes, 'The new version of the API crashes or does not answer in time'),
      this.alarm(
        'Failures',
        count(
          logMetrics.apiFailed,
          '(($.event = "failed" && $.cause.name != "Contention") || $.event = "issuer-unavailable")',
        ),
        'The new version of the API answers 500 or 503',
      ),
    ]
  }

  private alarm(id: string, metric: IMetric, says: string): Alarm {
    return new Alarm(this, id, {
      ...{ metric, threshold: 1, evaluationPeriods: 1, datapointsToAlarm: 1 },
      alarmDescription: `${says}. docs/runbook.md#a-deployment-was-rolled-back`,
      comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      treatMissingData: TreatMissingData.NOT_BREACHING,
    })
  }

  private roleFor({ lambda }: GuardFunction): Role {
    const role = new Role(this, 'Role', { assumedBy: new ServicePrincipal('codedeploy.amazonaws.com') })
    const actions = ['GetAlias', 'GetProvisionedConcurrencyConfig', 'UpdateAlias'].map((name) => `lambda:${name}`)
    const resources = [lambda.functionArn, `${lambda.functionArn}:${aliasName}`]
    role.addToPolicy(new PolicyStatement({ actions, resources }))
    role.addToPolicy(new PolicyStatement({ actions: ['cloudwatch:DescribeAlarms'], resources: ['*'] }))
    acknowledge(role, { 'AwsSolutions-IAM5[Resource::*]': 'It reads the states of alarms, and changes nothing' })
    return role
  }
}
