import { openEvents, type TargetStatus } from '../../../shared/events/events.ts'
import { eventIdIn, lagOf, placeOf } from '../../../shared/events/for-people.ts'
import type { Target } from '../../../shared/events/targets-file.ts'
import { count, list, zoneOf } from '../../../shared/guard/sentences.ts'
import { Facts } from '../kit/facts.tsx'
import { List } from '../kit/list.tsx'
import { eventsAddress, Section, Time, ZoneNote } from '../kit/parts.tsx'
import type { PageRoutes, PageServices } from '../kit/session.tsx'

export function addEvents({ page }: PageRoutes, services: PageServices): void {
  page(eventsAddress, {
    GET: async ({ mustHave, mustReadAll, show, guard }) => {
      mustHave('read')
      mustReadAll()
      const { targets, statusOf } = await openEvents({ ...services, guard })
      if (targets.length === 0) return show('Events', <NoTargets />)
      const [view, rows] = await Promise.all([
        guard.ledger.view(),
        Promise.all(targets.map(async (target) => ({ target, status: await statusOf(target) }))),
      ])
      const zone = zoneOf(view)
      const now = services.clock.now()
      return show(
        'Events',
        <>
          {rows.map((row) => (
            <TargetSection {...row} zone={zone} now={now} />
          ))}
          <ZoneNote zone={zone} />
        </>,
      )
    },
  })
}

const sample = `[{"name": "warehouse", "url": "https://warehouse.example/unit-guard",
  "secret": "unit-guard/events/warehouse", "types": ["update.*", "budget.*"]}]`

const NoTargets = () => (
  <>
    <p class="empty">No other system gets events.</p>
    <p>
      To tell a system when an update or a budget changes, write its address into a file like this one, name the file in
      the setting <code>EVENT_TARGETS</code>, and start or deploy again.
    </p>
    <pre>{sample}</pre>
  </>
)

interface TargetProps {
  readonly target: Target
  readonly status: TargetStatus
  readonly zone: string
  readonly now: number
}

const TargetSection = ({ target, status: { delivered, failed, waiting, dead }, zone, now }: TargetProps) => (
  <Section id={`target-${target.name}`} title={target.name}>
    <Facts
      isLong
      rows={[
        ['Sent to', placeOf(target)],
        ['Types', list(target.types)],
        ['Last delivery', delivered ? <Time at={delivered.at} zone={zone} /> : 'none yet'],
        ['Last failure', failed ? [<Time at={failed.at} zone={zone} />, ': ', failed.reason] : 'none'],
        ['Waiting', count(waiting.count)],
        ['Lag', lagOf(waiting, now) ?? 'none'],
        ['Dead', count(dead.count)],
      ]}
    />
    {dead.count === 0 ? null : <DeadEvents target={target} dead={dead} zone={zone} />}
  </Section>
)

const DeadEvents = ({ target, dead, zone }: Pick<TargetProps, 'target' | 'zone'> & Pick<TargetStatus, 'dead'>) => (
  <>
    <List
      caption={`${dead.latest.length < dead.count ? `The latest ${count(dead.latest.length)} dead events` : 'Dead events'}. They are not sent again automatically`}
      rows={dead.latest}
      columns={[
        { name: 'Event', isHead: true, cell: (delivery) => <code>{eventIdIn(delivery)}</code> },
        { name: 'Type', class: 'whole', cell: ({ type }) => type },
        { name: 'Since', cell: ({ doneAt, createdAt }) => <Time at={doneAt ?? createdAt} zone={zone} /> },
        { name: 'Last answer', cell: ({ givenUp }) => givenUp },
      ]}
    />
    <p class="note">
      An operator sends them again with <code>npm run events -- replay {target.name} --since …</code>
    </p>
  </>
)
