import type { Block } from '../../../shared/slack/blocks.ts'
import { plainHtml, style, toHtml } from './block-kit.ts'
import type { OpenModal, RecordedMessage } from './recorder.ts'
import type { HomeView, ModalView } from './shapes.ts'

/** Each button sends what Slack would send. */
export function workspacePage({
  user,
  messages,
  home,
  modal,
}: {
  readonly user: string
  /** The newest first. */
  readonly messages: readonly RecordedMessage[]
  readonly home: HomeView | undefined
  readonly modal: OpenModal | undefined
}): string {
  const seen = messages.filter(({ only }) => only === undefined || only === user)
  return [
    `<!doctype html><html lang="en"><meta charset="utf-8"><title>Slack on this machine</title><style>${style}${own}</style>`,
    `<h1>Slack on this machine</h1><p>What Unit Guard posted, for the user <b>${attribute(user)}</b>. List the user under Callers first.</p>`,
    `<form method="get"><label>User <input name="user" value="${attribute(user)}" pattern="[UW][A-Z0-9]{2,20}"></label><button>Change user</button></form>`,
    form('command', { user }, '<label>/units <input name="text" size="50"></label><button>Send</button>'),
    form('home', { user }, '<button>Open App Home</button>'),
    ...(modal ? [`<h2>Form</h2>${modalHtml(modal, user)}`] : []),
    ...(home ? [`<h2>App Home</h2>${blocksHtml(home.blocks as readonly Block[], { user })}`] : []),
    ...seen.map((message) => messageHtml(message, user)),
    ...(seen.length === 0 ? ['<p>No message yet.</p>'] : []),
  ].join('\n')
}

function messageHtml({ channel, ts, blocks, text, edits, only }: RecordedMessage, user: string): string {
  const how = `${only === undefined ? '' : ' · only you see this'}${edits > 0 ? ` · edited ${edits}×` : ''}`
  const shown =
    blocks.length === 0 ? `<p>${plainHtml(text)}</p>` : blocksHtml(blocks as readonly Block[], { user, channel, ts })
  return `<h2>${plainHtml(channel)}${how}</h2>${shown}<p class="notification">${plainHtml(text)}</p>`
}

const blocksHtml = (blocks: readonly Block[], of: Readonly<Record<string, string>>): string =>
  toHtml({ blocks }, ({ action_id, value = '', text, style = '' }, block) => {
    const fields = { ...of, action: action_id ?? '', value, block }
    return form('press', fields, `<button class="button ${style}">${plainHtml(text.text)}</button>`)
  })

function modalHtml({ id, view }: OpenModal, user: string): string {
  const inputs = view.blocks.flatMap((block) => (block.type === 'input' ? [inputHtml(block)] : []))
  return form(
    'submit',
    { user, id },
    `<h3>${plainHtml(view.title.text)}</h3>${inputs.join('')}<button class="button primary">${plainHtml(view.submit.text)}</button>`,
  )
}

type Input = Extract<ModalView['blocks'][number], { type: 'input' }>

const inputHtml = ({ label, hint, block_id = '', element }: Input): string =>
  `<p><label>${plainHtml(label.text)} <input name="value:${attribute(block_id)}" value="${attribute(element.initial_value ?? '')}"></label><br>${plainHtml(hint?.text ?? '')}</p>`

function form(action: string, fields: Readonly<Record<string, string>>, inside: string): string {
  const hidden = Object.entries(fields).map(
    ([name, value]) => `<input type="hidden" name="${name}" value="${attribute(value)}">`,
  )
  return `<form method="post" action="/slack/${action}">${hidden.join('')}${inside}</form>`
}

const attribute = (text: string): string => text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/"/g, '&quot;')

const own = `
form { display: inline-block; margin: 4px 8px 4px 0 }
.link { background: none; color: #1264a3 }
`
