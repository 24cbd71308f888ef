import { setTimeout as sleep } from 'node:timers/promises'
import { type CloudEvent, sourceOf } from '../../../../shared/events/event.ts'
import { type OpenEvents, openEvents } from '../../../../shared/events/events.ts'
import { eventIdIn, lagOf, placeOf } from '../../../../shared/events/for-people.ts'
import type { Target } from '../../../../shared/events/targets-file.ts'
import { count, list } from '../../../../shared/guard/sentences.ts'
import type { Ledger } from '../../../../shared/ledger/ledger.ts'
import { systemClock, toRfc3339 } from '../../../../shared/platform/clock.ts'
import { systemIds } from '../../../../shared/platform/ids.ts'
import { CannotContinue } from '../../failures.ts'
import { withShutdown } from '../../shutdown.ts'
import { mustBeOneOf, noSuch, parseInstant, WrongUsage } from '../command.ts'
import { openGuard } from '../open.ts'
import type { Run } from '../table.ts'
import { findPastEvents, replay } from './replay.ts'

const actions = ['list', 'test', 'replay'] as const

export const run: Run<'events'> = async ({ since, until }, typed = 'list', name) => {
  const action = mustBeOneOf(typed, actions)
  if (action !== 'replay' && (since ?? until) !== undefined) throw new WrongUsage('--since and --until are for replay')
  const { services } = await openGuard()
  const events = await openEvents(services)
  if (action === 'list') return listTargets(events)
  const target = targetNamed(events, name)
  if (action === 'test') return test(events, target, sourceOf((await services.guard.ledger.view()).definitions))
  if (since === undefined) throw new WrongUsage('--since is needed')
  const span = {
    since: parseInstant(since, '--since'),
    until: until === undefined ? systemClock.now() : parseInstant(until, '--until'),
  }
  return sendAgain({ events, ledger: services.guard.ledger }, target, span)
}

/** @throws WrongUsage */
function targetNamed({ targets }: OpenEvents, name: string | undefined): Target {
  if (name === undefined) throw new WrongUsage('<target> is needed')
  const found = targets.find((target) => target.name === name)
  if (found) return found
  const names = targets.map((target) => target.name)
  throw names.length === 0 ? new CannotContinue(noTargets) : new WrongUsage(`There is ${noSuch('target', name, names)}`)
}

const noTargets = 'There is no target of events: name a file of targets in EVENT_TARGETS.'

async function listTargets(events: OpenEvents): Promise<boolean> {
  if (events.targets.length === 0) console.log(noTargets)
  for (const target of events.targets) {
    const { delivered, failed, waiting, dead } = await events.statusOf(target)
    console.log(`${target.name} (${placeOf(target)}): ${list(target.types)}`)
    console.log(`  last delivery  ${delivered ? `${toRfc3339(delivered.at)}, ${delivered.event}` : 'none yet'}`)
    console.log(`  last failure   ${failed ? `${toRfc3339(failed.at)}, ${failed.event}: ${failed.reason}` : 'none'}`)
    const lag = lagOf(waiting, systemClock.now())
    console.log(`  waiting        ${count(waiting.count)}${lag === null ? '' : `, the oldest for ${lag}`}`)
    console.log(`  dead           ${count(dead.count)}${dead.count === 0 ? '' : ', the latest:'}`)
    for (const delivery of dead.latest) {
      const { type = '', doneAt = 0, givenUp = '' } = delivery
      console.log(`    ${toRfc3339(doneAt)}  ${eventIdIn(delivery)}  ${type}  ${givenUp}`)
    }
  }
  return true
}

/** Sends an event whatever the `types` of the target are. The attempt is not recorded. */
async function test(events: OpenEvents, target: Target, source: string): Promise<boolean> {
  const id = `test_${systemIds.random()}`
  const event: CloudEvent = {
    specversion: '1.0',
    type: 'unit-guard.test',
    datacontenttype: 'application/json',
    id,
    source,
    time: toRfc3339(systemClock.now()),
    subject: target.name,
    data: { message: `A test of the target ${target.name}. It needs no action.` },
  }
  const result = await events.deliver(event, target)
  const outcome = result.kind === 'delivered' ? `took the event ${id}` : `did not take it: ${result.reason}`
  console.log(`${target.name} ${outcome}.`)
  return result.kind === 'delivered'
}

type Parts = { readonly events: OpenEvents; readonly ledger: Ledger }

const sendAgain = ({ events, ledger }: Parts, target: Target, span: { since: number; until: number }) =>
  withShutdown(async (shutdown) => {
    const stop = new AbortController()
    const pause = (ms: number) => sleep(ms, undefined, { signal: stop.signal }).catch(() => {})
    const pastEvents = await findPastEvents(ledger, target, span)
    console.log(`${count(pastEvents.length)} events since ${toRfc3339(span.since)} for ${target.name}`)
    const running = replay({ events, pause, stop: stop.signal, tell: console.log }, target, pastEvents).then(
      ({ sent, stopped }) => {
        console.log(`${count(sent)} sent.${stopped ? ` ${rest(target, stopped, span)}` : ''}`)
        return stopped === undefined
      },
    )
    shutdown.onStop(async () => {
      stop.abort()
      await running
    })
    return running
  })

const rest = ({ name }: Target, { at, reason }: { at: number; reason: string }, { until }: { until: number }): string =>
  `Stopped: ${reason}. To continue: npm run events -- replay ${name} --since ${toRfc3339(at)} --until ${toRfc3339(until)}`
