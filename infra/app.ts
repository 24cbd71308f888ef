import { App, Validations } from 'aws-cdk-lib/core'
import { AwsSolutionsChecks, ServerlessChecks } from 'cdk-nag'
import { environment, WrongSettings } from '../shared/platform/settings.ts'
import { WrongFile } from '../shared/platform/settings-file.ts'
import { bundleAll } from './bundle.ts'
import { readEdge, readProps } from './options.ts'
import { addStacks } from './unit-guard-stack.ts'

const app = new App()
try {
  const option = (name: string) => app.node.tryGetContext(name)
  const props = readProps(environment(), option, Object.keys(app.node.getAllContext()))
  const edge = readEdge(option)
  const bundles = 'cdk.out/bundles'
  await bundleAll({ into: bundles })
  // The CDK sets CDK_DEFAULT_REGION from the shell or the profile.
  addStacks(app, { props: { ...props, bundles }, edge, region: environment().CDK_DEFAULT_REGION })
  // A finding without an acknowledgement fails the synthesis.
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app), new ServerlessChecks(app))
  app.synth()
} catch (error) {
  const isPlain = [WrongSettings, WrongFile].some((plain) => error instanceof plain)
  process.stderr.write(`unit-guard: ${isPlain && error instanceof Error ? error.message : (error as Error).stack}\n`)
  process.exitCode = 1
}
