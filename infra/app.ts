import { App, Validations } from 'aws-cdk-lib/core'
import { AwsSolutionsChecks, ServerlessChecks } from 'cdk-nag'
import { WrongIssuers } from '../shared/auth/issuers-file.ts'
import { WrongTargets } from '../shared/events/targets-file.ts'
import { WrongPlans } from '../shared/guard/plans/plans-file.ts'
import { usualPrefix } from '../shared/platform/prefix.ts'
import { environment, WrongSettings } from '../shared/platform/settings.ts'
import { bundleAll } from './bundle.ts'
import { readProps } from './options.ts'
import { UnitGuardStack } from './unit-guard-stack.ts'

const app = new App()
try {
  const props = readProps(environment(), (name) => app.node.tryGetContext(name), Object.keys(app.node.getAllContext()))
  const bundles = 'cdk.out/bundles'
  await bundleAll({ into: bundles })
  const { prefix = usualPrefix } = props
  new UnitGuardStack(app, prefix === usualPrefix ? 'UnitGuard' : prefix, { ...props, bundles })
  // A finding that is not acknowledged fails the synthesis.
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app), new ServerlessChecks(app))
  app.synth()
} catch (error) {
  const isPlain = [WrongSettings, WrongPlans, WrongIssuers, WrongTargets].some((plain) => error instanceof plain)
  process.stderr.write(`unit-guard: ${isPlain && error instanceof Error ? error.message : (error as Error).stack}\n`)
  process.exitCode = 1
}
