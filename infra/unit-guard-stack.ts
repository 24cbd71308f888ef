import { Annotations, type App, CfnOutput, Stack, type StackProps } from 'aws-cdk-lib/core'
import type { Construct } from 'constructs'
import { losableOptions } from '../shared/guard/deployed-options.ts'
import { usualPrefix } from '../shared/platform/prefix.ts'
import { WrongSettings } from '../shared/platform/settings.ts'
import { EdgeStack } from './edge/edge-stack.ts'
import { deployedOptions, type EdgeOptions, type UnitGuardProps } from './props.ts'
import { UnitGuard } from './unit-guard.ts'

export class UnitGuardStack extends Stack {
  readonly guard: UnitGuard

  constructor(scope: Construct, id: string, { env, ...props }: UnitGuardProps & Pick<StackProps, 'env'>) {
    super(scope, id, {
      description: 'Unit Guard: a budget guard for a metered tracking service',
      terminationProtection: true,
      ...(env && { env }),
    })
    // The CDK leaves `Default` out of logical ids. Other logical ids would replace the table of a deployed stack.
    this.guard = new UnitGuard(this, 'Default', props)
    this.tellLostOptions(props)
    const { apiUrl, dashboardUrl, mcpUrl, slackUrl, table, logGroup } = this.guard
    const urls = { ApiUrl: apiUrl, DashboardUrl: dashboardUrl, McpUrl: mcpUrl, SlackUrl: slackUrl }
    const outputs = { ...urls, TableName: table.tableName, LogGroupName: logGroup.logGroupName }
    for (const [name, value] of Object.entries(outputs)) new CfnOutput(this, name, { value })
  }

  /** An option that is left out by mistake, such as the address of the alarms, goes without an error. Synth cannot see the deployed stack. */
  private tellLostOptions(props: UnitGuardProps): void {
    if (props.firstLedger) return
    const deployed = deployedOptions(props)
    const without = losableOptions.filter((name) => deployed[name] === 'missing')
    if (without.length === 0) return
    Annotations.of(this).addInfoV2(
      '@unit-guard:options',
      `this deployment is without ${without.join(', ')}. If the deployed stack has such an option, it loses it, and the guard says so until -c without=<options> says that this is meant`,
    )
  }
}

/**
 * Adds the guard, and with a domain its edge.
 *
 * @param region of the guard; the edge is in `edgeRegion`.
 */
export function addStacks(
  app: App,
  { props, edge, region }: { props: UnitGuardProps; edge: EdgeOptions | null; region: string | undefined },
) {
  const { prefix = usualPrefix } = props
  const name = prefix === usualPrefix ? 'UnitGuard' : prefix
  if (edge === null) return { guard: new UnitGuardStack(app, name, props), edge: null }
  if (!region)
    throw new WrongSettings('AWS_REGION: is needed with a domain: the edge is in another region than the guard')
  const stack = new UnitGuardStack(app, name, { ...props, env: { region } })
  const stackName = `${name}-Edge-${region}`
  return { guard: stack, edge: new EdgeStack(app, 'Edge', { ...edge, guard: stack.guard, stackName }) }
}
