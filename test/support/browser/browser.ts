import { expect } from 'vitest'
import type { Product } from '../product.ts'

export interface Shown {
  readonly status: number
  readonly headers: Headers
  readonly html: string
  /** The page without HTML tags. */
  readonly text: string
  readonly location: string | null
  /** Fields that prove the form belongs to this session. */
  readonly formToken: string
}

interface Asking {
  /** `undefined` removes a header that browsers send. */
  readonly headers?: Record<string, string | undefined>
  /** Another origin than the product's own. */
  readonly origin?: string
}

/** Checks that foreign text is only text on the page: it adds no element, style, script or address, and none of it is missing. */
export function expectInert({ html, text }: Pick<Shown, 'html' | 'text'>): void {
  const elements = html
    .replace(/="[^"]*"/g, '=')
    .match(/<[^>]*>/g)
    ?.join('')
  expect(elements).not.toMatch(/<(script|img|style|iframe|object|base|b>|i>)|\s(style|src|on\w+)=/)
  expect(html.match(/<h1>/g)).toHaveLength(1)
  expect(text).not.toMatch(/undefined|NaN|\[object/)
}

export const ours = 'http://localhost'

/** Keeps cookies, and sends forms as browsers do. */
export function openBrowser({ dashboard }: Pick<Product, 'dashboard'>) {
  const cookies = new Map<string, string>()

  async function ask(
    method: string,
    path: string,
    { headers = {}, origin = ours }: Asking,
    body?: string,
  ): Promise<Shown> {
    const response = await dashboard.request(`${origin}${path}`, {
      method,
      headers: {
        ...(cookies.size > 0 && { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') }),
        ...Object.fromEntries(
          Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== undefined),
        ),
      },
      ...(body !== undefined && { body }),
    })
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (/Max-Age=0/.test(line)) cookies.delete(name)
      else cookies.set(name, value)
    }
    const html = await response.text()
    return {
      status: response.status,
      headers: response.headers,
      html,
      text: textOf(html),
      location: response.headers.get('location'),
      formToken: /name="form" value="([^"]+)"/.exec(html)?.[1] ?? '',
    }
  }

  const get = (path: string, how: Asking = {}) => ask('GET', path, how)

  const post = (path: string, fields: Record<string, string | readonly string[]>, how: Asking = {}) =>
    ask(
      'POST',
      path,
      {
        ...how,
        headers: {
          'content-type': 'application/x-www-form-urlencoded',
          origin: 'null',
          'sec-fetch-site': 'same-origin',
          ...how.headers,
        },
      },
      new URLSearchParams(
        Object.entries(fields).flatMap(([name, values]) =>
          [values].flat().map((value): [string, string] => [name, value]),
        ),
      ).toString(),
    )

  return {
    cookies,
    get,
    post,
    logIn: async (token: string | Promise<string>) => post('/login', { token: await token }),
    /** Sends a form with the token of the page before, and follows the redirect. */
    decide: async (fields: Record<string, string | readonly string[]>, page = '/dashboard/inbox') => {
      const { formToken } = await get(page)
      const sent = await post('/dashboard/decide', { form: formToken, from: 'inbox', ...fields })
      return sent.location === null ? sent : get(sent.location)
    },
  }
}

const signs: Readonly<Record<string, string>> = {
  check: '✓',
  cross: '✕',
  warning: '⚠',
  exclamation: '!',
  clock: '◔',
  play: '▶',
  question: '?',
  back: '↩',
  hourglass: '⌛︎',
}

/** Replaces the drawn signs of a page with characters. */
export const withSigns = (html: string): string =>
  html.replace(/<svg class="sign sign-(\w+)".*?<\/svg>/gs, (_drawing, name) => signs[name] ?? `no sign ${name}`)

const textOf = (html: string): string =>
  withSigns(html)
    .replace(/<head>.*<\/head>/s, '')
    .replace(/<[^>]*>/g, ' ')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&')
    .replace(/\s+/g, ' ')
    .replace(/ ([.,;:])/g, '$1')
    .trim()
