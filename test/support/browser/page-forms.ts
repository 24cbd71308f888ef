import type { openBrowser, Shown } from './browser.ts'

/** Fills in and sends forms as a browser without scripts does. */

type Fields = Record<string, string | readonly string[]>
type Browser = ReturnType<typeof openBrowser>

/**
 * Presses a button: sends all fields of its form with the user's input.
 *
 * @param within text of the form, if several forms have such a button.
 * @returns the page that follows.
 */
export async function press(
  browser: Browser,
  { html }: Pick<Shown, 'html'>,
  button: string,
  filled: Fields = {},
  within = '',
): Promise<Shown> {
  const sent = await send(browser, { html }, button, filled, within)
  return sent.location === null ? sent : browser.get(sent.location.replace(/#.*/, ''))
}

/** Like `press`, but does not follow the redirect. */
export async function send(
  browser: Browser,
  { html }: Pick<Shown, 'html'>,
  button: string,
  filled: Fields = {},
  within = '',
) {
  const { action, fields } = formWith(html, button, within)
  return browser.post(action, { ...fields, ...filled })
}

export function formWith(html: string, button: string, within = ''): { action: string; fields: Fields } {
  for (const [, attributes = '', body = ''] of html.matchAll(/<form([^>]*)>(.*?)<\/form>/gs)) {
    const pressed = [...body.matchAll(/<button([^>]*)>(.*?)<\/button>/gs)].find(([, , text]) => text === button)
    if (!pressed || !body.includes(within)) continue
    const { name, value } = attributesOf(pressed[1] ?? '')
    const of = name === undefined ? {} : { [name]: value ?? '' }
    return { action: attributesOf(attributes).action ?? '', fields: { ...carried(body), ...of } }
  }
  throw new Error(`no form has the button ${button} ${within}`)
}

function carried(body: string): Fields {
  const fields: Record<string, string[]> = {}
  const carry = (name: string | undefined, value: string) => {
    if (name !== undefined) fields[name] = [...(fields[name] ?? []), value]
  }
  for (const [, text = ''] of body.matchAll(/<input([^>]*)>/g)) {
    const { name, type, value = 'on', checked } = attributesOf(text)
    if (type !== 'checkbox' || checked !== undefined) carry(name, value)
  }
  for (const [, text = '', value = ''] of body.matchAll(/<textarea([^>]*)>(.*?)<\/textarea>/gs))
    carry(attributesOf(text).name, decode(value))
  for (const [, text = '', options = ''] of body.matchAll(/<select([^>]*)>(.*?)<\/select>/gs)) {
    const all = [...options.matchAll(/<option([^>]*)>/g)].map(([, option = '']) => attributesOf(option))
    carry(attributesOf(text).name, (all.find(({ selected }) => selected !== undefined) ?? all[0])?.value ?? '')
  }
  return fields
}

const attributesOf = (text: string): Record<string, string | undefined> =>
  Object.fromEntries(
    [...text.matchAll(/([\w-]+)="([^"]*)"/g)].map(([, name = '', value = '']) => [name, decode(value)]),
  )

const decode = (text: string): string =>
  text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&')
