import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Queue } from 'aws-cdk-lib/aws-sqs'
import { App, Stack, Validations } from 'aws-cdk-lib/core'
import { AwsSolutionsChecks, ServerlessChecks } from 'cdk-nag'
import { expect, test, vi } from 'vitest'
import { optionNames } from '../../infra/options.ts'
import { settingNames } from '../../infra/props.ts'
import { needed } from '../support/infra/deployment.ts'
import { type Synthesis, synthesize } from '../support/infra/stack.ts'
import { variants } from '../support/infra/variants.ts'

const checks = (app: App) => Validations.of(app).addPlugins(new AwsSolutionsChecks(app), new ServerlessChecks(app))

test.each(Object.entries(variants))(
  'cdk-nag (AwsSolutions, Serverless) and the CDK find no fault in %s',
  (_, variant) => {
    expect(() => synthesize({ ...variant, checks })).not.toThrow()
  },
)

/** The compiler knows the props that are neither options nor settings. */
test.each([
  ['option of the command', optionNames, ({ context = {} }: Synthesis) => Object.keys(context)],
  [
    'setting',
    ['GUARD_PREFIX', ...settingNames],
    ({ env, plans, issuers, targets }: Synthesis) => [
      ...Object.entries({ ...needed, ...env })
        .filter(([, value]) => value !== '')
        .map(([name]) => name),
      ...Object.entries({ PLANS: plans, TRUSTED_ISSUERS: issuers, EVENT_TARGETS: targets })
        .filter(([, file]) => file)
        .map(([name]) => name),
    ],
  ],
])('the variants together have every %s', (_what, names, namesOf) => {
  const has = new Set(Object.values(variants).flatMap(namesOf))
  expect(names.filter((name) => !has.has(name))).toEqual([])
})

test('cdk-nag and the CDK report the faults of a faulty stack', () => {
  const app = new App({ outdir: mkdtempSync(join(tmpdir(), 'unit-guard-synth-')) })
  new Queue(new Stack(app, 'Other'), 'Queue')
  checks(app)
  const said = vi.spyOn(console, 'error').mockReturnValue()
  expect(() => app.synth()).toThrow(/[Vv]alidation/)
  said.mockRestore()
})
