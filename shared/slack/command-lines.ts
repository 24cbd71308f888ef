/** Every command behind `/units`: how it is written, what it does, and an example. Help and mistakes derive from it. */
export const commandLines = {
  estimate: {
    usage: '/units estimate <ranking|difficulty> <project…>',
    does: 'what an update would cost, and whether it would pass; spends nothing',
    example: '/units estimate ranking acme-shop',
  },
  run: {
    usage: '/units run <ranking|difficulty> <project…> [budget=<name>] [because <reason>]',
    does: 'shows the cost and a Confirm button; nothing is spent before you press it',
    example: '/units run ranking acme-shop "acme blog" because the prices changed',
  },
  updates: {
    usage: '/units updates',
    does: 'the latest updates and what became of them',
    example: '/units updates',
  },
  show: {
    usage: '/units show <id>',
    does: 'everything about one update: who, why, what it cost',
    example: '/units show upd_4t8kx2',
  },
  cancel: {
    usage: '/units cancel <id>',
    does: 'takes back an update that has not begun',
    example: '/units cancel upd_4t8kx2',
  },
  freeze: {
    usage: '/units freeze <budget> <reason>',
    does: 'stops all spending of a budget and of those below it',
    example: '/units freeze seo something asks in a loop',
  },
  unfreeze: {
    usage: '/units unfreeze <budget> <reason>',
    does: 'lets a budget spend again',
    example: '/units unfreeze seo the loop is fixed',
  },
  pause: {
    usage: '/units pause <plan> <reason>',
    does: 'stops a scheduled plan until it is resumed',
    example: '/units pause nightly the site moves this week',
  },
  resume: {
    usage: '/units resume <plan> <reason>',
    does: 'lets a paused plan run again',
    example: '/units resume nightly the move is done',
  },
  reconcile: {
    usage: '/units reconcile <units left> <reason>',
    does: 'books the difference to what the vendor’s screen shows as left',
    example: '/units reconcile 31200 as of 10:40',
  },
  login: {
    usage: '/units login',
    does: 'a link to the dashboard, for you alone: it works once, within five minutes',
    example: '/units login',
  },
  help: {
    usage: '/units help',
    does: 'this list',
    example: '/units help',
  },
} as const satisfies Record<string, { usage: string; does: string; example: string }>

export type Verb = keyof typeof commandLines
