import * as z from 'zod/mini'

/** How a list is gone through: lists are read from their newest end, so the way back is what one came by. */
export interface Paging {
  /** Where this page begins; absent: with the newest. */
  readonly cursor?: string
  /** The cursors of the pages between the newest and this one, the last one nearest. */
  readonly trail?: string
}

type Query = Readonly<Record<string, string | undefined>>

/** More of them would not fit into an address: a reader who has come further begins again. */
const maxTrailLength = 8

const cursors = z.string().check(z.maxLength(4_000, 'takes at most 4,000 characters'))
export const pagingFields = { cursor: z.exactOptional(cursors), trail: z.exactOptional(cursors) }

/** @param asked what the list is narrowed to, which stays. */
export function Pages({
  path,
  asked,
  paging: { cursor, trail },
  next,
}: {
  path: string
  asked: Query
  paging: Paging
  next: string | undefined
}) {
  const came = trail?.split('.') ?? []
  const older = [...came, ...(cursor === undefined ? [] : [cursor])].slice(-maxTrailLength)
  return (
    <nav aria-label="Pages" class="pages">
      {cursor === undefined ? null : (
        <>
          <a href={addressWith(path, asked)}>Newest</a>
          <a href={addressWith(path, { ...asked, cursor: came.at(-1), trail: joined(came.slice(0, -1)) })} rel="prev">
            Newer
          </a>
        </>
      )}
      {next === undefined ? null : (
        <a href={addressWith(path, { ...asked, cursor: next, trail: joined(older) })} rel="next">
          Older
        </a>
      )}
      <a href={addressWith(`${path}.csv`, asked)} download>
        Download all as CSV
      </a>
    </nav>
  )
}

const joined = (trail: readonly string[]) => (trail.length === 0 ? undefined : trail.join('.'))

export function addressWith(path: string, query: Query): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined)
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`
}
