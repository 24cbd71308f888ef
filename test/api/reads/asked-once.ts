/**
 * Skips requests whose answer is known. A route that does not know a member refuses every value of it, and a route that forbids or
 * redirects a bare request does so for every query and body.
 */
export function createAskedOnce() {
  const known = new Set<string>()
  return {
    isAnswered: (route: string, members: readonly string[]): boolean =>
      known.has(route) || members.some((member) => known.has(`${route} ${member}`)),

    note(route: string, members: readonly string[], { status, text }: { status: number; text: string }): void {
      if (members.length === 0 && [308, 403].includes(status)) known.add(route)
      if (status !== 400) return
      for (const member of members)
        if (text.includes(`${member}: is not a known member`)) known.add(`${route} ${member}`)
    },
  }
}

export const membersOfQuery = (query: string): readonly string[] => [...new URLSearchParams(query).keys()]
