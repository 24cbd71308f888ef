import { runsAtOnce } from '../../shared/guard/options.ts'
import { type Bill, sum, times } from './bill.ts'
import { difference, unitsOf } from './measured.ts'
import { createUsage, type Figures } from './usage.ts'

/** What one update uses, by the way it comes; `cancelled` is the share of transactions that are sent again. */
export function createUpdateBills(figures: Figures) {
  const { asked, assumed } = figures
  const { call, log, out, guardSeconds } = createUsage(figures)
  const seconds = guardSeconds + assumed['service-seconds']
  /** The book changes when units are held, and when they are settled. */
  const told = times(
    2,
    sum(call('OutboxTell', assumed['tell-ms'] / 1000), unitsOf(asked('tell, the book changed'), 0), {
      dynamoStreamReads: 1,
    }),
  )
  const always = sum(told, log(assumed['log-kb']))

  const answered = (route: string) => (cancelled: number) =>
    sum(call('Api', seconds), unitsOf(asked(route), cancelled), always, out(assumed['answer-kb']))

  const recorded = (route: string, cancelled: number): Bill =>
    sum(call('SlackApp', assumed['slack-ms'] / 1000), unitsOf(asked(route), cancelled), log(assumed['request-log-kb']))

  return {
    api: answered('POST /updates'),
    gateway: answered('GET /v3/on-demand/{name}/run'),
    /** A command and its estimate, then a press of a button and the run; the stream starts what was recorded. */
    slack: (cancelled: number) =>
      sum(
        recorded('POST /slack/commands', cancelled),
        call('OutboxStart', guardSeconds + assumed['estimate-seconds']),
        unitsOf(asked('POST /updates that waits for approval'), cancelled),
        recorded('POST /slack/interactions', cancelled),
        call('OutboxStart', seconds),
        unitsOf(asked('POST /updates/:id/approve'), cancelled),
        always,
        out(2 * assumed['answer-kb']),
      ),
    plan: (projects: number, cancelled: number) => {
      const one = asked('plan of one project')
      const another = difference(asked('plan of two projects'), one)
      return sum(
        call('Scheduled', Math.ceil(projects / runsAtOnce) * seconds),
        unitsOf(one, cancelled),
        times(projects - 1, unitsOf(another, cancelled)),
        times(projects, always),
        { scheduledEvents: 1 },
      )
    },
  }
}
