import { modalActions } from '../../../shared/slack/blocks.ts'
import { lineOf, verbs } from '../../../shared/slack/command-words.ts'
import { pressedActions } from '../../../shared/slack/slack-events.ts'
import { productKinds } from '../../../shared/tracking/kinds.ts'
import type { Product } from '../../support/product.ts'

// Every command, button and form. A new one is included automatically.

export type Names = Readonly<Record<'kind' | 'project' | 'caller' | 'update' | 'budget' | 'plan' | 'id', string>>

type Send = (names: Names) => Response | Promise<Response>

export function slackProbesOf(
  { slack }: Pick<Product, 'slack'>,
  user: string,
  unknown: Names,
): readonly (readonly [what: string, send: Send])[] {
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
  const about = (['budget', 'project', 'id', 'caller'] as const).map((what): readonly [string, Send] => [
    `figures of a ${what}`,
    (names) => slack.command(names[what], { user }),
  ])
  return [['figures', () => slack.command('', { user })], ...about, ...typed, ...pressed, ...submitted, home]
}
