import { type Bill, sum, times } from './bill.ts'
import { unitsOf } from './measured.ts'
import { createUpdateBills } from './updates.ts'
import { createUsage, type Figures, toGb } from './usage.ts'

export interface Month {
  readonly updates: number
  /** Of the service, through the gateway. */
  readonly reads: number
  /** Of the dashboard. */
  readonly pages: number
  readonly cancelled: number
}

/** How updates come. */
const shares = { api: 0.6, gateway: 0.2, slack: 0.05, plan: 0.15 } as const
export const projectsOfPlan = 20

const hoursPerMonth = 730
const daysPerMonth = 30
const secretReadsPerHour = 12
const secretsPerProcess = 2

/** What a month uses, by what it is for. */
export function createMonthBills(figures: Figures) {
  const { asked, assumed } = figures
  const { call, log, out, guardSeconds } = createUsage(figures)
  const update = createUpdateBills(figures)
  const fixed = fixedBills(figures)

  const read = sum(
    call('Api', guardSeconds + assumed['read-seconds']),
    log(assumed['request-log-kb']),
    out(assumed['read-kb']),
  )
  const page = sum(
    call('Dashboard', guardSeconds),
    unitsOf(asked('GET /'), 0),
    log(assumed['request-log-kb']),
    out(assumed['page-kb']),
  )
  const mixed = (cancelled: number): Bill =>
    sum(
      times(shares.api, update.api(cancelled)),
      times(shares.gateway, update.gateway(cancelled)),
      times(shares.slack, update.slack(cancelled)),
      times(shares.plan / projectsOfPlan, update.plan(projectsOfPlan, cancelled)),
    )
  const stored = (updates: number): Bill => {
    const gb = toGb(updates * assumed['kept-months'] * assumed['record-kb'])
    return { dynamoStorageGb: gb, dynamoRestoreGb: gb }
  }

  return ({ updates, reads, pages, cancelled }: Month): Readonly<Record<string, Bill>> => ({
    updates: times(updates, mixed(cancelled)),
    'audits of them at night': times(updates, { dynamoReadUnits: assumed['audited-days'] }),
    'reads through the gateway': times(reads, read),
    'pages of the dashboard': times(pages, page),
    'storage and point-in-time recovery': stored(updates),
    ...fixed,
  })
}

/** What is used though nothing happens. */
export function fixedBills(figures: Figures): Readonly<Record<string, Bill>> {
  const { asked, deployed, assumed } = figures
  const { call, log } = createUsage(figures)
  const sweep = sum(
    call('Scheduled', assumed['sweep-seconds']),
    unitsOf(asked('sweep, nothing open'), 0),
    log(assumed['sweep-log-kb']),
    { scheduledEvents: 1 },
  )
  const digest = sum(
    call('Scheduled', assumed['digest-seconds']),
    unitsOf(asked('digest and audit, one update'), 0),
    log(assumed['sweep-log-kb']),
    { scheduledEvents: 1 },
  )
  const { alarmMetrics, compositeAlarms, dashboards, secrets } = deployed
  const secretCalls = assumed.processes * secretsPerProcess * secretReadsPerHour * hoursPerMonth
  return {
    'sweeps and digests': sum(times((hoursPerMonth * 60) / deployed.sweepMinutes, sweep), times(daysPerMonth, digest)),
    alarms: { alarmMetrics, compositeAlarms },
    'metrics of its own': { metrics: deployed.metrics + deployed.metricsByEvent * assumed['error-events'] },
    dashboard: { dashboards },
    secrets: { secrets, secretCalls },
  }
}
