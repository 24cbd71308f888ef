import type { Child } from 'hono/jsx'
import type { Block, HomeView } from '../../../shared/slack/blocks.ts'
import type { OpenModal, RecordedMessage } from './recorder.ts'

interface Workspace {
  readonly user: string
  /** The newest first. */
  readonly messages: readonly RecordedMessage[]
  readonly home: HomeView | undefined
  readonly modal: OpenModal | undefined
}

type Fields = Readonly<Record<string, string>>

/** Each button sends what Slack would send. */
export function WorkspacePage({ user, messages, home, modal }: Workspace) {
  const seen = messages.filter(({ only }) => only === undefined || only === user)
  return (
    <html lang="en">
      <title>Slack on this machine</title>
      <style>{style}</style>
      <h1>Slack on this machine</h1>
      <p>Messages of Unit Guard for the user {user}. List the user under Callers first.</p>
      <form method="get">
        <label>
          User <input name="user" value={user} pattern="[UW][A-Z0-9]{2,20}" />
        </label>
        <button type="submit">Change user</button>
      </form>
      <Form action="command" fields={{ user }} button="Send">
        <label>
          /units <input name="text" size={50} />
        </label>
      </Form>
      <Form action="home" fields={{ user }} button="Open App Home" />
      {modal && <Modal modal={modal} user={user} />}
      {home && <h2>App Home</h2>}
      {home && <Blocks blocks={home.blocks} of={{ user }} />}
      {seen.map(({ channel, ts, text, blocks, edits, only }) => (
        <section>
          <h2>
            {channel}
            {only && ' · only you see this'}
            {edits > 0 && ` · edited ${edits}×`}
          </h2>
          <Blocks blocks={blocks} of={{ user, channel, ts }} />
          <p class="notification">{plain(text)}</p>
        </section>
      ))}
      {seen.length === 0 && <p>No message yet.</p>}
    </html>
  )
}

const Form = (of: { action: string; fields: Fields; button: string; kind?: string | undefined; children?: Child }) => (
  <form method="post" action={`/slack/${of.action}`}>
    {Object.entries(of.fields).map(([name, value]) => (
      <input type="hidden" name={name} value={value} />
    ))}
    {of.children}
    <button type="submit" class={of.kind}>
      {of.button}
    </button>
  </form>
)

function Modal({ modal: { id, view }, user }: { modal: OpenModal; user: string }) {
  return (
    <Form action="submit" fields={{ user, id }} button={view.submit.text}>
      <h2>{view.title.text}</h2>
      {view.blocks.map(({ block_id, label, hint, element }) => (
        <p>
          <label>
            {label.text}{' '}
            <input name={`value:${block_id}`} value={'initial_value' in element ? element.initial_value : ''} />
          </label>
          <br />
          {hint.text}
        </p>
      ))}
    </Form>
  )
}

const Blocks = ({ blocks, of }: { blocks: readonly Block[]; of: Fields }) => (
  <>
    {blocks.map((block) => {
      if (block.type !== 'actions') return textsOf(block).map((text) => <p class={block.type}>{marked(text)}</p>)
      return block.elements.map((each) => {
        if (each.type !== 'button') return null
        const fields = { ...of, action: each.action_id ?? '', value: each.value ?? '', block: block.block_id ?? 'b' }
        return <Form action="press" fields={fields} button={each.text.text} kind={each.style} />
      })
    })}
  </>
)

function textsOf(block: Exclude<Block, { type: 'actions' }>): readonly string[] {
  const found =
    block.type === 'context' ? block.elements : [block.text, ...('fields' in block ? (block.fields ?? []) : [])]
  return found.flatMap((each) => (each && 'text' in each ? [each.text] : []))
}

const plain = (text: string): string => text.replace(/&lt;/g, '<').replace(/&gt;/g, '>').replace(/&amp;/g, '&')

/** Shows links, bold words, and times in words. Other marks stay as they are. */
const marked = (text: string) =>
  text
    .replace(/<!date\^\d+\^[^|<>]*\|([^<>]*)>/g, '$1')
    .split(/(<https?:[^<>]+>|\*[^*\n]+\*)/)
    .map((part, place) => {
      if (place % 2 === 0) return plain(part)
      if (part.startsWith('*')) return <b>{plain(part.slice(1, -1))}</b>
      const [address = '', label = address] = part.slice(1, -1).split('|')
      return <a href={plain(address)}>{plain(label)}</a>
    })

const style = `
body { font: 15px/1.46 sans-serif; width: 720px; margin: 16px }
h2 { font-size: 14px; color: #666; border-top: 1px solid #ddd; margin-top: 20px }
p { white-space: pre-wrap; margin: 6px 0 }
form { display: inline-block; margin: 4px 8px 4px 0 }
.header { font-weight: 700; font-size: 18px }
.context, .notification { font-size: 12px; color: #666 }
.primary { background: #007a5a; color: #fff }
.danger { background: #e01e5a; color: #fff }
`
