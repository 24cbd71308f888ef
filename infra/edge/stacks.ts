import type { App } from 'aws-cdk-lib/core'
import { usualPrefix } from '../../shared/platform/prefix.ts'
import { WrongSettings } from '../../shared/platform/settings.ts'
import type { UnitGuardProps } from '../props.ts'
import { UnitGuardStack } from '../unit-guard-stack.ts'
import type { EdgeProps } from './edge.ts'
import { EdgeStack } from './edge-stack.ts'

/**
 * Adds the guard, and with a domain its edge.
 *
 * @param region of the guard; the edge is in `edgeRegion`.
 */
export function addStacks(
  app: App,
  { props, edge, region }: { props: UnitGuardProps; edge: Omit<EdgeProps, 'guard'> | null; region: string | undefined },
) {
  const { prefix = usualPrefix } = props
  const name = prefix === usualPrefix ? 'UnitGuard' : prefix
  if (edge === null) return { guard: new UnitGuardStack(app, name, props), edge: null }
  if (!region)
    throw new WrongSettings('AWS_REGION: is needed with a domain: the edge is in another region than the guard')
  const stack = new UnitGuardStack(app, name, { ...props, env: { region } })
  return { guard: stack, edge: new EdgeStack(app, 'Edge', { ...edge, guard: stack.guard, stackName: `${name}-Edge` }) }
}
