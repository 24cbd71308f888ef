import { type App, CfnOutput, Stack } from 'aws-cdk-lib/core'
import type { Construct } from 'constructs'
import { usualPrefix } from '../../shared/platform/prefix.ts'
import { WrongSettings } from '../../shared/platform/settings.ts'
import { type EdgeOptions, edgeRegion, type UnitGuardProps } from '../props.ts'
import { UnitGuardStack } from '../unit-guard-stack.ts'
import { Edge, type EdgeProps } from './edge.ts'

class EdgeStack extends Stack {
  constructor(scope: Construct, id: string, { stackName, ...props }: EdgeProps & { readonly stackName: string }) {
    super(scope, id, {
      stackName,
      env: { region: edgeRegion },
      description: 'Unit Guard: the address of all its functions',
      terminationProtection: true,
    })
    const { distribution } = new Edge(this, 'Default', props)
    const outputs = { EdgeUrl: `https://${props.domain}`, DistributionDomain: distribution.distributionDomainName }
    for (const [name, value] of Object.entries(outputs)) new CfnOutput(this, name, { value })
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
