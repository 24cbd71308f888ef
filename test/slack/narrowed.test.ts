import { describe, expect, test } from 'vitest'
import { pressedActions } from '../../shared/ledger/updates/slack-events.ts'
import { modalActions } from '../../shared/slack/blocks.ts'
import { lineOf, verbs } from '../../shared/slack/receive/command-words.ts'
import { productKinds } from '../../shared/tracking/kinds.ts'
import { type Clients, startClients, telling } from '../api/reads/clients.ts'
import { listPeople } from '../support/slack/slack.ts'

// Every command, button and form for a user in Slack who reads one of two clients. A new one is probed by itself.

type Names = Readonly<Record<'kind' | 'project' | 'update' | 'budget' | 'plan' | 'id', string>>

const unknown: Names = {
  ...{ kind: 'ranking', project: 'no-store', budget: 'other-s', plan: 'none', id: '4040' },
  update: 'upd_0000000000000000000000000a',
}
const othersOf = ({ other }: Clients): Names => ({
  ...{ kind: 'ranking', project: 'zed-store', budget: 'zenith', plan: 'zulu', id: '7777' },
  update: other.waiting,
})
const ownOf = ({ ids }: Clients): Names => ({
  ...{ kind: 'ranking', project: 'shop', budget: 'acme', plan: 'own', id: '5001' },
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
  /** What this user gets: answers, and App Home. What others read in the channel is the channel's. */
  const answers = async (sent: Response | Promise<Response>) => {
    const text = await (await sent).text()
    await clients.deliver()
    const told = clients.slack.news().flatMap(({ to, body }) => (to === 'asker' ? [body] : []))
    const home = recorder.homes.get(user)
    recorder.homes.delete(user)
    return JSON.stringify([text, told, home])
  }
  return { clients, answers }
}

type Send = (names: Names) => Response | Promise<Response>

function probesOf({ slack }: Clients): readonly (readonly [what: string, send: Send])[] {
  const typed = verbs.flatMap((verb) => {
    const { usage } = lineOf(verb, productKinds)
    const line = (names: Names, project: string, budget = '') =>
      usage
        .replace('/units ', '')
        .replace(/<[^>]*\|[^>]*>/, names.kind)
        .replace('<project…>', project)
        .replace('[budget=<name>]', budget)
        .replace('[tag:<key>=<value>]', 'tag:client=acme')
        .replace('[because <reason>]', '')
        .replace('<id>', names.update)
        .replace('<budget>', names.budget)
        .replace('<plan>', names.plan)
        .replace('<units left>', '5')
        .replace('[as of <time>]', '')
        .replace('[<reason>]', 'mine')
        .replace('<reason>', 'mine')
    if (/[<[]/.test(line(unknown, 'p'))) throw new Error(`the probe cannot fill in ${usage}`)
    const command = (what: string, of: (names: Names) => string) =>
      [`${verb} ${what}`, (names: Names) => slack.command(of(names), { user })] as const
    return [
      command('one', (names) => line(names, names.project)),
      command('by id', (names) => line({ ...names, kind: 'difficulty' }, names.id)),
      command('two', (names) => line(names, `shop ${names.project}`)),
      command('on', (names) => line(names, 'shop', `budget=${names.budget}`)),
    ]
  })
  const pressed = [...pressedActions, ...modalActions].flatMap((action) =>
    [true, false].flatMap((isHome) =>
      (['update', 'budget', 'plan'] as const).map((what): readonly [string, Send] => [
        `${action} ${what} ${isHome ? 'at home' : ''}`,
        (names) => {
          const value = action === 'unfreeze' || action === 'resume' ? `1795000000000:${names[what]}` : names[what]
          return slack.press(action, value, { user, isHome })
        },
      ]),
    ),
  )
  const submitted = modalActions.map((action): readonly [string, Send] => [
    `${action} submitted`,
    async (names) => {
      await slack.press(action, action === 'grant-units' ? names.budget : names.update, { user })
      return slack.submit({ ...(action !== 'reject-because' && { units: '9000' }), reason: 'mine' }, { user })
    },
  ])
  const home = ['home', () => slack.event({ type: 'app_home_opened', user, tab: 'home' })] as const
  return [['figures', () => slack.command('', { user })], ...typed, ...pressed, ...submitted, home]
}

/** As if the other's names were the unknown ones, because an answer repeats what was asked. */
const asUnknown = (text: string, others: Names): string =>
  Object.entries(others)
    .reduce((all, [name, value]) => all.replaceAll(value, unknown[name as keyof Names]), text)
    .replace(/\b(cmd|prs|frm|evt|upd)_[0-9a-z]+|login\?code=[\w-]+|<!date[^>]*>/g, '')

describe('a user in Slack who reads one client', () => {
  test('cannot tell the other client from one that does not exist', async () => {
    const { clients, answers } = await start()
    const others = othersOf(clients)
    const { updates: before } = (await clients.call('GET', '/updates?limit=200')).body
    const wrong: object[] = []
    for (const [what, send] of probesOf(clients)) {
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

  test('sees its own client, and of budgets above only what they lack', async () => {
    const { clients, answers } = await start()
    const wrong: object[] = []
    for (const [what, send] of probesOf(clients)) {
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
