import { describe, expect, test } from 'vitest'
import { type Clients, startClients, telling } from '../api/reads/clients.ts'
import { type Names, slackProbesOf } from '../api/reads/slack-probes.ts'
import { listPeople } from '../support/slack/slack.ts'

// Every command, button and form for a user in Slack who reads one of two clients.

const unknown: Names = {
  kind: 'ranking',
  project: 'no-store',
  caller: 'nix',
  budget: 'other-s',
  plan: 'none',
  id: '4040',
  update: 'upd_0000000000000000000000000a',
}
const othersOf = ({ other }: Clients): Names => ({
  kind: 'ranking',
  project: 'zed-store',
  caller: 'zoe',
  budget: 'zenith',
  plan: 'zulu',
  id: '7777',
  update: other.waiting,
})
const ownOf = ({ ids }: Clients): Names => ({
  kind: 'ranking',
  project: 'shop',
  caller: 'max',
  budget: 'acme',
  plan: 'own',
  id: '5001',
  update: ids.awaiting,
})

const user = 'U2MIA'
const mia = { scopes: ['read', 'run', 'propose', 'approve', 'admin'], budgets: ['acme'], readsBudgets: ['acme'] }

async function start() {
  const clients = await startClients({ slack: true, bot: true })
  await listPeople(clients, { [user]: mia })
  await clients.deliver()
  clients.slack.news()
  const { recorder } = clients.slack
  if (!recorder) throw new Error('there is no recorder')
  /** The messages to this user: answers and App Home. The channel belongs to all its readers. */
  const answers = async (sent: Response | Promise<Response>) => {
    const text = await (await sent).text()
    await clients.deliver()
    const told = clients.slack
      .news()
      .filter(({ to }) => to === 'asker')
      .map(({ body }) => body)
    const home = recorder.homes.get(user)
    recorder.homes.delete(user)
    return JSON.stringify([text, told, home])
  }
  return { clients, answers }
}

/** Replaces the other client's names with the unknown ones, because an answer repeats the request. */
const asUnknown = (text: string, others: Names): string =>
  Object.entries(others)
    .reduce((all, [name, value]) => all.replaceAll(value, unknown[name as keyof Names]), text)
    .replace(/\b(cmd|prs|frm|evt|upd)_[0-9a-z]+|login\?code=[\w-]+|<!date[^>]*>/g, '')

describe('a user in Slack who reads one client', () => {
  test('a Slack user who reads one client cannot distinguish the other client from an unknown one', async () => {
    const { clients, answers } = await start()
    const others = othersOf(clients)
    const { updates: before } = (await clients.call('GET', '/updates?limit=200')).body
    const wrong: object[] = []
    for (const [what, send] of slackProbesOf(clients, user, unknown)) {
      const [seen, nothing] = [await answers(send(others)), await answers(send(unknown))].map((text) =>
        asUnknown(text, others),
      )
      const told = telling.exec(nothing ?? '')?.[0]
      if (seen !== nothing || told) wrong.push({ what, told, seen, nothing })
    }
    expect(wrong.slice(0, 4)).toEqual([])
    const { updates: after } = (await clients.call('GET', '/updates?limit=200')).body
    expect(after.filter(({ caller }: { caller: string }) => caller !== `slack:${user}`)).toEqual(before)
  }, 60_000)

  test('a Slack user who reads one client sees its budget, and only the missing units of budgets above', async () => {
    const { clients, answers } = await start()
    const wrong: object[] = []
    for (const [what, send] of slackProbesOf(clients, user, unknown)) {
      const text = await answers(send(ownOf(clients)))
      const told = telling.exec(text)?.[0] ?? clients.other.updates.find((id) => text.includes(id))
      if (told) wrong.push({ what, told, text })
    }
    for (const id of Object.values(clients.ids)) {
      const text = await answers(clients.slack.command(`show ${id}`, { user }))
      const told = telling.exec(text)?.[0]
      if (told) wrong.push({ id, told, text })
    }
    expect(wrong.slice(0, 4)).toEqual([])
    expect(await answers(clients.slack.command('', { user }))).toMatch(/acme.*acme-eu/)
    await answers(clients.slack.command('run ranking fresh budget=acme', { user }))
    const [button] = clients.slack.buttons()
    const confirmed = await answers(clients.slack.press('confirm', button?.value ?? '', { user }))
    expect(confirmed).toMatch(/is done: \*40 units\* charged to `acme`/)
    expect(confirmed).not.toMatch(telling)
    expect(await answers(clients.slack.event({ type: 'app_home_opened', user, tab: 'home' }))).toContain('shared')
  }, 60_000)
})
