/**
 * All values of one parameter of a raw query string, decoded as forms are; null for one that is not percent-encoded
 * UTF-8. A parameter that decides what a caller may do must not be overlooked for its spelling, and nobody knows how the
 * service reads names: so case does not count, nor do blanks around a name, nor what servers cut off it (`[]`, a NUL),
 * and `;` may separate as `&` does.
 */
export function queryValues(search: string, wanted: string): readonly (string | null)[] {
  const parts = search.split('&').flatMap((part) => (part.includes(';') ? [part, ...part.split(';')] : [part]))
  return parts.flatMap((pair) => {
    const [name = '', ...value] = pair.split('=')
    return plain(decoded(name)) === wanted ? [decoded(value.join('='))] : []
  })
}

const plain = (name: string | null): string | undefined => name?.split(/[[\0]/)[0]?.trim().toLowerCase()

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return null
  }
}
