import { expect, onTestFinished, test, vi } from 'vitest'
import { patienceMs } from '../support/patience.ts'
import { newFolder, startGuard } from '../support/process/local.ts'
import { gate, startScriptedService } from '../support/scripted-service.ts'

test('npm start is ready before its service answers, and then says that the service refuses its token and what to do', async () => {
  const ready = gate()
  const service = await startScriptedService({ fallback: () => ({ status: 401, body: '{}', once: ready.opened }) })
  const account = { TRACKING_BASE_URL: service.baseUrl, TRACKING_TOKEN: 'canary-of-the-service' }
  onTestFinished(() => service.close())
  const local = await startGuard({ DATA_DIR: await newFolder(), ...account })
  expect(local.said.out).not.toContain('token:')
  ready.open()
  const told =
    "token: refused by the service (status 401); does not say when it expires\n  renew the service's token: the service refuses it; stop with Ctrl-C, set TRACKING_TOKEN, and start again\n"
  await vi.waitFor(() => expect(local.said.out).toContain(told), patienceMs)
  expect(service.requests.map(({ method, url }) => `${method} ${url}`)).toEqual(['GET /v3/projects'])
})
