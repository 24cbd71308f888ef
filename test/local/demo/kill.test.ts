import { readdir } from 'node:fs/promises'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createTeller } from '../../../infra/local/demo/kill.ts'
import { patienceMs } from '../../support/patience.ts'
import { runLocal, temporaryDirectory } from '../../support/process/local.ts'

test(
  'npm run demo:kill kills a guard, shows that nothing is sent twice, and leaves no files',
  async () => {
    const { directory, remove } = await temporaryDirectory()
    onTestFinished(remove)
    const elsewhere = { TRACKING_BASE_URL: 'http://127.0.0.1:1/v3', DATA_DIR: 'memory' }
    const { code, out, err } = await runLocal('demo:kill', [], { TMPDIR: directory, ...elsewhere })
    expect([code, err]).toEqual([0, ''])
    const ends = [
      'The budget demo for the updates of acme.example has 100 left',
      'the service has 1 run of 40 units',
      'SIGKILL; the caller has no answer',
      'The budget has 40 held, 60 left',
      'in-progress; the service has 1 run of 40 units',
      'in-doubt; 40 in doubt, 60 left',
      'in-doubt; the service has 1 run of 40 units',
      'that it did not have before. The update is settled; 40 spent, 60 left',
      'settled; the service has 1 run of 40 units',
      'The audit compares 4 counters with the sums of their lines: exact',
    ]
    const steps = out.split('\n').filter((line) => /^ +\d+ /.test(line))
    expect(steps).toEqual(ends.map((end) => expect.stringMatching(new RegExp(`${end}$`))))
    const [killed, restarted] = steps.flatMap((step) => /process (\d+)/.exec(step)?.[1] ?? [])
    expect(killed).not.toBe(restarted)
    for (const pid of [killed, restarted]) expect(() => process.kill(Number(pid), 0)).toThrow('ESRCH')
    expect(await readdir(directory)).toEqual([])
  },
  patienceMs,
)

test('a demonstration that shows something else than it promised says so and fails', () => {
  const log = vi.spyOn(console, 'log').mockImplementation(() => {})
  onTestFinished(() => log.mockRestore())
  const { tell, isAsPromised } = createTeller()
  tell('The service has', '1 run', '1 run')
  expect(isAsPromised()).toBe(true)
  tell('The service has', '2 runs', '1 run')
  tell('The audit is', 'exact', 'exact')
  expect(isAsPromised()).toBe(false)
  expect(log.mock.calls.flat()).toEqual([
    '   1  The service has 1 run',
    '   2  The service has 2 runs',
    '      NOT AS PROMISED, which is: 1 run',
    '   3  The audit is exact',
  ])
})
