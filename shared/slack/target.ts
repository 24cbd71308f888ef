/** An address that messages may go to. */
export interface Target {
  readonly url: string
  /** The parts of it that nobody may see, the longest first. */
  readonly secrets: readonly string[]
}

const slackHost = 'hooks.slack.com'
const loopbackHosts = ['127.0.0.1', '[::1]', 'localhost']
/** Slack's have about a hundred characters. */
const longestUrl = 1_000
const shortestSecret = 8

/** `null` for every address that is not Slack's: a `response_url` comes from outside, and could point at anything. */
export function targetOf(text: string, { allowLoopback }: { allowLoopback: boolean }): Target | null {
  if (text.length > longestUrl || !URL.canParse(text)) return null
  const url = new URL(text)
  if (url.username !== '' || url.password !== '') return null
  const isSlack = url.protocol === 'https:' && url.host === slackHost
  const isLoopback = url.protocol === 'http:' && loopbackHosts.includes(url.hostname)
  if (!isSlack && !(allowLoopback && isLoopback)) return null
  const secrets = [text, url.href, url.pathname + url.search, url.pathname]
  return { url: url.href, secrets: [...new Set(secrets)].filter(({ length }) => length >= shortestSecret) }
}
