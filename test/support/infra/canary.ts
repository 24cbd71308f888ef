import type { Line } from '../log-lines.ts'
import { type Alarm, statesOf } from './alarm-states.ts'
import { countedIn, idOf } from './raised.ts'
import type { Resource, Synthesized } from './stack.ts'

/** What happens in one minute of a deployment. */
export interface Minute {
  /** Calls of the new version that Lambda counts as failed: how many minutes each took. */
  readonly failed?: readonly number[]
  /** Of all versions. */
  readonly lines?: readonly Line[]
}

export type Outcome =
  | { readonly kind: 'shifted'; readonly percent: number; readonly minutes: number }
  | { readonly kind: 'rolled back'; readonly minute: number; readonly alarms: readonly string[] }

/** Figures arrive in the minute after theirs, those of a call when it has ended; each has the minute in which the call began. */
const delay = 1
/** How many periods an alarm looks back. */
const lookback = 3

interface Stat {
  readonly MetricName: string
  readonly Dimensions: readonly { readonly Name: string; readonly Value: unknown }[]
}

/** CodeDeploy and CloudWatch by the template: shifts the alias to the new version, or moves it back when an alarm is raised. */
export async function shift(
  { ofType }: Pick<Synthesized, 'ofType'>,
  version: string,
  during: (minute: number) => Promise<Minute> | Minute,
): Promise<Outcome> {
  const [alias] = ofType('AWS::Lambda::Alias')
  const group = named(ofType, alias?.UpdatePolicy.CodeDeployLambdaAliasUpdate.DeploymentGroupName.Ref)
  const { DeploymentConfigName, AlarmConfiguration, AutoRollbackConfiguration } = group.Properties
  const [, percent, minutes] =
    /^CodeDeployDefault\.LambdaCanary(\d+)Percent(\d+)Minutes$/.exec(DeploymentConfigName) ?? []
  const alarms: Resource[] = AlarmConfiguration.Alarms.map(({ Name }: { Name: { Ref: string } }) =>
    named(ofType, Name.Ref),
  )
  const isWatching = AlarmConfiguration.Enabled && AutoRollbackConfiguration.Enabled
  const rollsBack = isWatching && AutoRollbackConfiguration.Events.includes('DEPLOYMENT_STOP_ON_ALARM')
  const past: Minute[] = []
  for (let minute = 0; minute < Number(minutes); minute++) {
    past.push(await during(minute))
    const raised = alarms.filter((alarm) => isRaised(alarm, past, version))
    if (rollsBack && raised.length > 0) return { kind: 'rolled back', minute, alarms: raised.map(nameOf) }
  }
  return { kind: 'shifted', percent: Number(percent), minutes: Number(minutes) }
}

const nameOf = ({ id }: Resource): string => id.replace(/^ApiCanary|[0-9A-F]{8}$/g, '')

function named(ofType: Synthesized['ofType'], id: string): Resource {
  const types = ['AWS::CodeDeploy::DeploymentGroup', 'AWS::CloudWatch::Alarm']
  const found = types.flatMap(ofType).find((resource) => resource.id === id)
  if (!found) throw new Error(`the template has no ${id}`)
  return found
}

/** At the end of the last minute. The window slides by a minute, however long its periods are. */
function isRaised({ Properties }: Resource, past: readonly Minute[], version: string): boolean {
  const { Metrics, Period = Metrics?.find(({ MetricStat }: { MetricStat?: object }) => MetricStat).MetricStat.Period } =
    Properties
  const length = Period / 60
  const windows = Array.from({ length: lookback }, (_, index) => {
    const to = past.length - (lookback - 1 - index) * length
    return { from: to - length, to }
  })
  const sumOf = (stat: Stat, { from, to }: { from: number; to: number }): number | null => {
    const values = past.flatMap((minute, at) => (at >= from && at < to ? valuesIn(minute, at, stat) : []))
    return values.length === 0 ? null : values.reduce((sum, value) => sum + value)
  }
  const valuesIn = ({ failed = [], lines = [] }: Minute, at: number, stat: Stat): number[] => {
    const isOfLambda = stat.MetricName === 'Errors'
    if (isOfLambda) return failed.filter((lasted) => at + lasted + delay < past.length).map(() => 1)
    if (at + delay >= past.length) return []
    const id = idOf(
      stat.MetricName,
      stat.Dimensions.map((each) => resolved(each, version)),
    )
    return lines.flatMap(countedIn).flatMap(({ metric, value }) => (metric === id ? [value] : []))
  }
  const datapoints = windows.map((window) => {
    if (!Metrics) return sumOf(Properties, window)
    const [{ Expression }, ...used] = Metrics
    return resultOf(Expression, (id) =>
      sumOf(used.find(({ Id }: { Id: string }) => Id === id).MetricStat.Metric, window),
    )
  })
  return statesOf(Properties as Alarm, datapoints).at(-1) === 'ALARM'
}

/** The version is known when CloudFormation has made it. */
const resolved = ({ Name, Value }: Stat['Dimensions'][number], version: string) => ({
  Name,
  Value: typeof Value === 'string' ? Value : version,
})

function resultOf(expression: string, sumOf: (id: string) => number | null): number {
  const [, left = '', right = ''] = /^FILL\((\w+), 0\) - FILL\((\w+), 0\)$/.exec(expression) ?? []
  if (left === '') throw new Error(`no rule for ${expression}`)
  return (sumOf(left) ?? 0) - (sumOf(right) ?? 0)
}
