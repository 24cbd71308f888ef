import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { App } from 'aws-cdk-lib/core'
import { counts, vitals } from '../../shared/platform/metrics.ts'
import { bundleNames } from '../code.ts'
import { UnitGuardStack } from '../unit-guard-stack.ts'

// biome-ignore lint/suspicious/noExplicitAny: templates are JSON.
type Json = any

interface Resource {
  readonly id: string
  readonly Type: string
  readonly Properties: Json
}

/** What a deployment has that is paid for by the month, and how large its functions are. */
export interface Deployed {
  readonly memoryGb: (name: string) => number
  readonly alarms: number
  readonly alarmMetrics: number
  readonly compositeAlarms: number
  readonly metrics: number
  /** With a metric for each value of a field. */
  readonly metricsByEvent: number
  readonly dashboards: number
  readonly secrets: number
  readonly sweepMinutes: number
  readonly logMonths: number
}

const needed = { accountUnitsPerMonth: 50_000, trackingBaseUrl: 'https://service.example/v3' }
const daysPerMonth = 30

/** Of the given templates, or of a deployment that sets only what it must. */
export const readDeployed = (files: readonly string[] = []): Deployed =>
  count(
    files.length === 0
      ? resourcesOf(synthesize())
      : files.flatMap((file) => resourcesOf(JSON.parse(readFileSync(file, 'utf8')))),
  )

const resourcesOf = ({ Resources = {} }: Json): Resource[] =>
  Object.entries<Json>(Resources).map(([id, resource]) => ({ id, ...resource }))

function synthesize(): Json {
  const folder = mkdtempSync(join(tmpdir(), 'unit-guard-costs-'))
  try {
    const bundles = join(folder, 'bundles')
    for (const name of bundleNames) {
      mkdirSync(join(bundles, name), { recursive: true })
      writeFileSync(join(bundles, name, 'index.mjs'), '')
    }
    const outdir = join(folder, 'cdk.out')
    const app = new App({ outdir, stackTraces: false, treeMetadata: false, builtinCloudFormationValidation: false })
    new UnitGuardStack(app, 'UnitGuard', { ...needed, bundles })
    return app.synth().getStackByName('UnitGuard').template
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function count(resources: readonly Resource[]): Deployed {
  const ofType = (type: string) => resources.filter(({ Type }) => Type === type)
  const alarms = ofType('AWS::CloudWatch::Alarm')
  const filters = ofType('AWS::Logs::MetricFilter')
  const metricsOf = ({ Properties: { Metrics = [{ MetricStat: {} }] } }: Resource): number =>
    Metrics.filter(({ MetricStat }: Json) => MetricStat).length
  const isByEvent = ({ Properties }: Resource) => Properties.MetricTransformations[0].Dimensions?.[0].Key === 'event'
  const functions = ofType('AWS::Lambda::Function')
  return {
    memoryGb: (name) => {
      const found = functions.find(({ id }) => new RegExp(`${name}Function[0-9A-F]{8}$`).test(id))
      if (!found) throw new Error(`the template has no function ${name}`)
      return found.Properties.MemorySize / 1024
    },
    alarms: alarms.length,
    alarmMetrics: alarms.reduce((total, alarm) => total + metricsOf(alarm), 0),
    compositeAlarms: ofType('AWS::CloudWatch::CompositeAlarm').length,
    metrics: Object.keys({ ...vitals, ...counts }).length + filters.filter((filter) => !isByEvent(filter)).length,
    metricsByEvent: filters.filter(isByEvent).length,
    dashboards: ofType('AWS::CloudWatch::Dashboard').length,
    secrets: ofType('AWS::SecretsManager::Secret').length,
    sweepMinutes: sweepMinutesOf(ofType('AWS::Events::Rule')),
    logMonths: Math.max(...ofType('AWS::Logs::LogGroup').map(monthsOf)),
  }
}

const monthsOf = ({ Properties: { RetentionInDays = 365 } }: Resource): number => RetentionInDays / daysPerMonth

function sweepMinutesOf(rules: readonly Resource[]): number {
  const [, minutes] = rules.flatMap(
    ({ Properties }) => /^rate\((\d+) minutes\)$/.exec(Properties.ScheduleExpression) ?? [],
  )
  if (minutes === undefined) throw new Error('the template has no rule that fires every few minutes')
  return Number(minutes)
}
