import { App } from 'aws-cdk-lib/core'
import { bundleAll } from '../../infra/bundle.ts'
import { readProps } from '../../infra/options.ts'
import { UnitGuardStack } from '../../infra/unit-guard-stack.ts'
import { usualPrefix } from '../../shared/platform/prefix.ts'
import { environment } from '../../shared/platform/settings.ts'

// An app with two guards: the one of this repository, and another with the prefix of the option `second`.
const app = new App()
const option = (name: string) => app.node.tryGetContext(name)
const bundles = 'cdk.out/bundles'
await bundleAll({ into: bundles })
const prefix = String(option('second'))
const first = readProps(environment(), option)
const { prefix: own = usualPrefix } = first
new UnitGuardStack(app, own === usualPrefix ? 'UnitGuard' : own, { ...first, bundles })
new UnitGuardStack(app, prefix, {
  prefix,
  bundles,
  sandbox: true,
  firstLedger: true,
  accountUnitsPerMonth: 50_000,
  accountUnitsUsedAtStart: 0,
  accountRenewalDay: 1,
  accountTimeZone: 'UTC',
})
app.synth()
