/**
 * The token for the service. Both calls are bounded by the secret store's own
 * deadline, and throw when there is no token to be had.
 */
export interface ServiceToken {
  read(): Promise<string>
  /** Called once after a 401 with the token that was refused; may return the same one. */
  reread(refused: string): Promise<string>
}

/** Anything else would break the header. */
export const isUsableToken = (token: string): boolean => /^[\x21-\x7e]+$/.test(token)

/** The last token's forms: every header of every answer is searched for them. */
let latest: { readonly token: string; readonly forms: readonly string[] } | undefined

export function tokenForms(token: string): readonly string[] {
  if (latest?.token !== token) latest = { token, forms: formsOf(token) }
  return latest.forms
}

function formsOf(token: string): readonly string[] {
  const inJson = JSON.stringify(token).slice(1, -1)
  const withEscapedSlashes = inJson.replaceAll('/', '\\/')
  return [...new Set([token, inJson, withEscapedSlashes, encodeURIComponent(token)])]
}

export type Redact = (text: string) => string

export function redactorOf(token: string): Redact {
  const forms = tokenForms(token)
  return (text) => forms.reduce((rest, form) => rest.replaceAll(form, '[redacted]'), text)
}
