import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { startBackground } from '../../../infra/local/background.ts'
import { openFile } from '../../../infra/local/database/file.ts'
import { createBackgroundTasks } from '../../../infra/local/shutdown.ts'
import { createClockwork } from '../../../infra/local/ticker.ts'
import { parsePlans } from '../../../shared/guard/plans-file.ts'
import { instantIn, sweptAt } from '../../../shared/ledger/store/sqlite-file.ts'
import { createTestClock } from '../../support/clock.ts'
import { patienceMs } from '../../support/patience.ts'
import { newFolder } from '../../support/process/local.ts'
import { diesAtEachStep } from '../../support/process/mortal.ts'
import { startProduct } from '../../support/product.ts'
import { createMemoryStore } from '../../support/store/memory-store.ts'
import { mortal } from '../../support/store/mortal-store.ts'

const plans = parsePlans(
  JSON.stringify(
    [
      ['often', 'rate(20 minutes)'],
      ['hourly', 'cron(0 * * * ? *)'],
    ].map(([name, schedule]) => ({ name, schedule, kind: 'ranking', projects: ['acme.example'] })),
  ),
)
/** The times from 04:50 to 06:10. The digest has no time of its own in its event. */
const due = [
  'often 05:00',
  'often 05:20',
  'often 05:40',
  'often 06:00',
  'hourly 05:00',
  'hourly 06:00',
  'digest',
].toSorted()

const nameOf = (event: object): string =>
  'plan' in event ? `${event.plan} ${/T(\d\d:\d\d)/.exec(Object(event).time)?.[1]}` : 'digest'

/** The clockwork of one process. @returns the events that it fired until it had nothing to do. */
async function fireAt(
  clock: ReturnType<typeof createTestClock>,
  file: Awaited<ReturnType<typeof openFile>>['file'],
  step: (name: string) => void = () => {},
): Promise<readonly string[]> {
  const fired: string[] = []
  const tasks = createBackgroundTasks()
  let [running, idle, begun] = [0, 0, 0]
  const tick = await createClockwork(plans, {
    file,
    clock,
    tasks,
    handle: async (event) => {
      // Later events take less time, so that they would end first if they were not fired one after another.
      for (let turns = due.length - begun++; turns > 0; turns--) await setImmediate()
      step('fire')
      fired.push(nameOf(event))
    },
    tried: async (work) => {
      running++
      const isDone = await work().then(
        () => true,
        () => false,
      )
      if (!isDone) await tasks.stop(Promise.resolve())
      running--
      return isDone
    },
  })
  await tick()
  for (idle = 0; idle < 5; idle = running > 0 ? 0 : idle + 1) await setImmediate()
  return fired
}

async function newFile() {
  const { file } = await openFile(join(await newFolder(), 'data'), 'ledger.db')
  onTestFinished(() => void file.db.close())
  return file
}

test('a clockwork that dies at any step fires each time again, or had fired it', async () => {
  async function prepare() {
    const file = await newFile()
    const clock = createTestClock('2026-11-20T04:50:00Z')
    expect(await fireAt(clock, file)).toEqual([])
    clock.set('2026-11-20T06:10:00Z')
    return { file, clock }
  }
  const steps = await diesAtEachStep(prepare, async (process, { file, clock }) => {
    const before = await fireAt(clock, file, process.step).catch(() => [])
    process.revive()
    const after = await fireAt(clock, file)
    const all = [...before, ...after]
    expect([...new Set(all)].toSorted()).toEqual(due)
    // Up to three events were being fired, and their time was not noted.
    expect(all.length - due.length).toBeLessThanOrEqual(3)
    if (!process.isDead()) expect(after).toEqual([])
    expect(await fireAt(clock, file)).toEqual([])
  })
  expect(steps.filter((step) => step === 'fire')).toHaveLength(due.length)
})

test('a sweep that fails is not noted, so that the trouble of a late sweep is seen', async () => {
  const { store, kill, heal } = mortal(createMemoryStore())
  const { services, clock } = await startProduct({ store })
  await services.guard.ledger.view()
  const logged: string[] = []
  const log = { info() {}, error: (event: string) => void logged.push(event), hide() {} }
  const file = await newFile()
  const live = async (until: () => boolean) => {
    const follow = async () => ({ stop: async () => {} })
    const { stop } = await startBackground({ ...services, log }, { file, follow, plans: null })
    await expect.poll(until, { timeout: patienceMs, interval: 5 }).toBe(true)
    await stop(Promise.resolve())
  }
  const at = () => instantIn(file.db, sweptAt)
  kill(0)
  await live(() => logged.includes('sweep-failed'))
  expect(at()).toBeNull()
  heal()
  await live(() => at() !== null)
  expect(at()).toBe(clock.now())
})
