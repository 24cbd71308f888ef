import { Hono } from 'hono'
import { systemIds } from '../../../shared/platform/ids.ts'
import { WorkspacePage } from './page.tsx'
import type { createRecorder } from './recorder.ts'
import { commandForm, eventBody, pressForm, signatureOf, submissionForm } from './requests.ts'

type Recorder = ReturnType<typeof createRecorder>

const firstUser = 'U02ADA'
const userPattern = /^[UW][A-Z0-9]{2,20}$/

/**
 * Shows the recorded messages. Its buttons send what Slack would send.
 *
 * @param url of this workspace, for `response_url`.
 */
export function createWorkspace(
  recorder: Recorder,
  { guardUrl, url, signingSecret, channel }: { guardUrl: string; url: string; signingSecret: string; channel: string },
) {
  const app = new Hono({ strict: false })

  async function sendToGuard(path: string, body: string): Promise<string> {
    const headers = signatureOf(signingSecret, body, Math.floor(Date.now() / 1000))
    return (await fetch(`${guardUrl}/slack/${path}`, { method: 'POST', headers, body })).text()
  }
  const sendForm = (path: string, form: Record<string, string>) => sendToGuard(path, `${new URLSearchParams(form)}`)

  // Pages of other sites may not press buttons.
  app.use(async (c, next) => {
    const from = c.req.header('sec-fetch-site')
    const isOurs = from === undefined || from === 'same-origin' || from === 'none'
    return c.req.method === 'GET' || isOurs ? next() : c.text('only this page sends forms', 403)
  })

  app.get('/', (c) => {
    const user = userOf(c.req.query('user'))
    const [modal] = recorder.modals.slice(-1)
    const messages = recorder.messages.toReversed()
    return c.html(`<!doctype html>${WorkspacePage({ user, messages, home: recorder.homes.get(user), modal })}`)
  })

  for (const action of ['command', 'home', 'press', 'submit'] as const) {
    app.post(`/${action}`, async (c) => {
      const form: Record<string, string> = Object.fromEntries(new URLSearchParams(await c.req.text()))
      const { channel: at = channel, ts = '', action: pressed = '', value = '', block = 'b', id = '' } = form
      const user = userOf(form.user)
      const query = new URLSearchParams({ channel: at, ts, user })
      const sender = { user, trigger: systemIds.random(), responseUrl: `${url}/response?${query}` }
      const message = ts === '' ? null : { channel: at, ts }
      if (action === 'command') {
        const answer = await sendForm('commands', commandForm(sender, form.text ?? ''))
        if (answer.startsWith('{')) recorder.respond({ channel: at, ts: ts || null, user }, JSON.parse(answer))
      }
      if (action === 'home')
        await sendToGuard('events', eventBody(sender.trigger, { type: 'app_home_opened', user, tab: 'home' }))
      if (action === 'press')
        await sendForm('interactions', pressForm(sender, { action: pressed, value, block, message }))
      if (action === 'submit') await submit(user, id, form)
      // Waits, because the outbox answers a moment later.
      await new Promise((resolve) => setTimeout(resolve, 700))
      return c.redirect(`/slack/?user=${user}`, 303)
    })
  }

  async function submit(user: string, id: string, form: Readonly<Record<string, string>>): Promise<void> {
    const at = recorder.modals.findIndex((modal) => modal.id === id)
    const modal = recorder.modals[at]
    if (!modal) return
    const values = Object.entries(form)
      .filter(([name]) => name.startsWith('value:'))
      .map(([name, value]) => [name.slice('value:'.length), value] as const)
    const answer = await sendForm('interactions', submissionForm(user, modal, Object.fromEntries(values)))
    if (answer.includes('"errors"')) recorder.respond({ channel, ts: null, user }, { text: answer })
    else recorder.modals.splice(at, 1)
  }

  app.post('/response', async (c) => {
    const { channel: at = channel, ts = '', user = firstUser } = c.req.query()
    recorder.respond({ channel: at, ts: ts || null, user }, await c.req.json())
    return c.text('ok')
  })

  app.route('/', recorder.app)
  return new Hono({ strict: false }).route('/slack', app)
}

const userOf = (text: string | undefined): string => (text !== undefined && userPattern.test(text) ? text : firstUser)
