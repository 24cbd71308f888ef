import { openEvents, type TargetStatus } from '../../../shared/events/events.ts'
import { eventIdIn, lagOf, placeOf } from '../../../shared/events/for-people.ts'
import type { Target } from '../../../shared/events/targets-file.ts'
import { count, list, zoneOf } from '../../../shared/guard/sentences.ts'
import { eventsAddress, Fact, Facts, Section, TableHead, Time, ZoneNote } from '../components/parts.tsx'
import type { PageRoutes, PageServices } from '../session.tsx'

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
            <TargetSection {...{ ...row, zone, now }} />
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
      the setting <code>EVENT_TARGETS</code>, and start or deploy again. A bus of EventBridge needs no file: name it in{' '}
      <code>EVENT_BUS</code>.
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
    <Facts isLong>
      <Fact name="Sent to">{placeOf(target)}</Fact>
      <Fact name="Types">{list(target.types)}</Fact>
      <Fact name="Last delivery">{delivered ? <Time at={delivered.at} zone={zone} /> : 'none yet'}</Fact>
      <Fact name="Last failure">
        {failed ? (
          <>
            <Time at={failed.at} zone={zone} />: {failed.reason}
          </>
        ) : (
          'none'
        )}
      </Fact>
      <Fact name="Waiting">{count(waiting.count)}</Fact>
      <Fact name="Lag">{lagOf(waiting, now) ?? 'none'}</Fact>
      <Fact name="Dead">{count(dead.count)}</Fact>
    </Facts>
    {dead.count === 0 ? null : <DeadEvents {...{ target, dead, zone }} />}
  </Section>
)

const DeadEvents = ({ target, dead, zone }: Pick<TargetProps, 'target' | 'zone'> & Pick<TargetStatus, 'dead'>) => (
  <>
    <div class="wide">
      <table class="rows">
        <caption>
          {dead.latest.length < dead.count ? `The latest ${count(dead.latest.length)} dead events` : 'Dead events'}.
          They are not sent again by themselves
        </caption>
        <TableHead columns={['Event', 'Type', 'Since', 'Last answer']} />
        <tbody>
          {dead.latest.map((delivery) => (
            <tr>
              <th scope="row">
                <code>{eventIdIn(delivery)}</code>
              </th>
              <td data-name="Type">{delivery.type}</td>
              <td data-name="Since">
                <Time at={delivery.doneAt ?? delivery.createdAt} zone={zone} />
              </td>
              <td data-name="Last answer">{delivery.givenUp}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
    <p class="note">
      An operator sends them again with <code>npm run events -- replay {target.name} --since …</code>
    </p>
  </>
)
