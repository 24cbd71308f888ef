/**
 * All values of one parameter of a raw query string, decoded as forms are; null for one that is not percent-encoded
 * UTF-8. Names are compared regardless of case, because the service may read them so, and a parameter that decides
 * what a caller may do must not be overlooked for its spelling.
 */
export function queryValues(search: string, wanted: string): readonly (string | null)[] {
  return search.split('&').flatMap((pair) => {
    const [name = '', ...value] = pair.split('=')
    return decoded(name)?.toLowerCase() === wanted ? [decoded(value.join('='))] : []
  })
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return null
  }
}
