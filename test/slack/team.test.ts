import { describe, expect, test } from 'vitest'
import { whyOtherTeam } from '../../shared/slack/receive/team.ts'
import { month, startTalk } from '../support/slack/talk.ts'

// Slack's user ids are unique only within a workspace. https://docs.slack.dev/reference/objects/user-object

const [own, other] = ['T0ACME', 'T0OTHER']

async function start() {
  const talk = await startTalk(
    {
      budgets: { seo: { limits: month(5_000), approvalAbove: 100 } },
      people: { U1ADA: { scopes: ['read', 'run', 'approve', 'admin'], budgets: '*' } },
    },
    { bot: true, units: { dear: 640 } },
  )
  const { product } = talk
  const kept = async (): Promise<string | undefined> =>
    (await product.call('GET', '/callers/slack:U1ADA')).body.slackTeam
  const asked = async (): Promise<string> => {
    const { body } = await product.update({ kind: 'ranking', projects: ['dear'], budget: 'seo', whenShort: 'fit' })
    await product.deliver()
    return body.updates[0].id
  }
  const stateOf = async (id: string) => (await talk.updateOf(id)).state
  return { ...talk, kept, asked, stateOf }
}

const refused = expect.stringMatching(/private: .*is listed for the Slack workspace T0ACME, and this came from T0OTHER/)

describe('the workspace of a user in Slack', () => {
  test('the workspace of the first request is kept, and the entries say so', async () => {
    const { type, kept, product } = await start()
    expect(await kept()).toBeUndefined()
    await type('', { from: own })
    expect(await kept()).toBe(own)
    const { entries } = (await product.call('GET', '/budgets/account/entries')).body
    expect(entries[0]).toMatchObject({ type: 'caller', by: 'slack:U1ADA', reason: expect.stringContaining(own) })
  })

  test('a command of the same id in another workspace is refused, and changes nothing', async () => {
    const { type, kept, product } = await start()
    await type('', { from: own })
    expect(await type('freeze seo stolen', { from: other })).toEqual([refused])
    expect((await product.call('GET', '/budgets/seo')).body.frozen).toBe(false)
    expect(await kept()).toBe(own)
    expect(await type('freeze seo a loop', { from: own })).not.toEqual([refused])
    expect((await product.call('GET', '/budgets/seo')).body.frozen).toMatchObject({ reason: 'a loop' })
  })

  test('a press of the same id in another workspace decides nothing', async () => {
    const { type, press, asked, stateOf } = await start()
    await type('', { from: own })
    const id = await asked()
    expect(await press('approve', id, { from: other, block: `shown:640:${id}` })).toEqual([refused])
    expect(await stateOf(id)).toBe('awaiting-approval')
    await press('approve', id, { from: own, block: `shown:640:${id}` })
    expect(await stateOf(id)).toBe('settled')
  })

  test('a form that the same id in another workspace submits decides nothing', async () => {
    const { product, news, press, asked, stateOf, type } = await start()
    await type('', { from: own })
    const id = await asked()
    await press('reject-because', id, { from: own })
    await product.slack.submit({ reason: 'too dear' }, { from: other })
    expect(await news()).toEqual([refused])
    expect(await stateOf(id)).toBe('awaiting-approval')
  })

  test('App Home of the listed user is not published for the same id in another workspace', async () => {
    const { product, type } = await start()
    await type('', { from: own })
    const opened = { type: 'app_home_opened', user: 'U1ADA', tab: 'home' }
    await product.slack.event(opened, 'Ev1', other)
    await product.deliver()
    expect(product.slack.recorder?.homes.get('U1ADA')).toBeUndefined()
    await product.slack.event(opened, 'Ev2', own)
    await product.deliver()
    expect(product.slack.recorder?.homes.get('U1ADA')).toBeDefined()
  })

  test('an administrator sets the workspace, and a user who is listed again has none', async () => {
    const { type, kept, product } = await start()
    const listed = { scopes: ['read', 'admin'], budgets: '*' }
    await product.call('PUT', '/callers/slack:U1ADA', { body: { ...listed, slackTeam: own } })
    expect(await type('', { from: other })).toEqual([refused])
    await product.call('PUT', '/callers/slack:U1ADA', { body: listed })
    await type('', { from: other })
    expect(await kept()).toBe(other)
    const wrong = await product.call('PUT', '/callers/ada', { body: { slackTeam: own } })
    expect([wrong.status, wrong.body.detail]).toEqual([400, expect.stringContaining('only for a user of Slack')])
  })

  test('of two first requests at once from two workspaces, one is refused', async () => {
    const { product } = await start()
    const from = (team: string) =>
      ({
        id: `cmd_${team}`,
        version: 1,
        createdAt: 0,
        answers: 0,
        kind: 'command',
        text: '',
        user: 'U1ADA',
        teams: [team],
        responseUrl: '',
      }) as const
    const refusals = await Promise.all([own, other].map((team) => whyOtherTeam(product.guard, from(team))))
    expect(refusals.filter((refusal) => refusal === null)).toHaveLength(1)
  })

  test('a user who is not listed is not kept', async () => {
    const { type, product } = await start()
    await type('', { from: other, user: 'U9NEW' })
    expect((await product.call('GET', '/callers/slack:U9NEW')).status).toBe(404)
  })
})

describe('several workspaces of one organization', () => {
  const org = 'E0ACME'
  const pressBy = (sender: object, now: number) => ({
    type: 'block_actions',
    ...sender,
    trigger_id: JSON.stringify(sender),
    response_url: 'https://hooks.slack.com/actions/T0/1/none',
    container: { type: 'message', message_ts: '1.2' },
    actions: [{ type: 'button', action_id: 'unfreeze', value: `${now}:seo` }],
  })
  const id = 'U1ADA'

  test.each([
    ['the organization', { user: { id, team_id: org }, team: { id: own, enterprise_id: org } }, true],
    ['a workspace of it', { user: { id, team_id: own }, team: { id: own, enterprise_id: org } }, true],
    ['no workspace of their own', { user: { id }, team: { id: own, enterprise_id: org } }, true],
    ['no workspace at all', { user: { id }, team: null }, true],
    ['the organization of the app alone', { user: { id }, team: null, enterprise: { id: org } }, true],
    ['another organization of the app', { user: { id }, team: null, enterprise: { id: 'E0OTHER' } }, false],
    ['a text for an id', { user: { id, team_id: 7 } }, true],
    [
      'another organization, in a shared channel',
      { user: { id, team_id: other }, team: { id: own, enterprise_id: org } },
      false,
    ],
  ])('a press of a user with %s', async (_, sender, isTheirs) => {
    const { product, news } = await start()
    const command = { command: '/units', text: 'freeze seo a loop', user_id: id, trigger_id: 'one' }
    const from = { response_url: 'https://hooks.slack.com/commands/T0/1/none', team_id: own, enterprise_id: org }
    await product.slack.send('/slack/commands', { ...command, ...from })
    await news()
    await product.slack.send('/slack/interactions', { payload: JSON.stringify(pressBy(sender, product.clock.now())) })
    await news()
    expect((await product.call('GET', '/callers/slack:U1ADA')).body.slackTeam).toBe(org)
    expect((await product.call('GET', '/budgets/seo')).body.frozen === false).toBe(isTheirs)
  })
})
