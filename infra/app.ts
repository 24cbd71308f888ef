import { App } from 'aws-cdk-lib/core'
import { UnitGuardStack } from './unit-guard-stack.ts'

const app = new App()
new UnitGuardStack(app, 'UnitGuard')
app.synth()
