import { anyOf, type Kinds, kindsBy, namesOf } from '../tracking/kinds.ts'

/** What members mean. Texts stand beside schemas, because bundles ship what is in a schema. */
export type Texts = Readonly<Record<string, string | ((kinds: Kinds) => string)>>

/** For names that no schema describes otherwise. */
export const commonTexts: Texts = {
  kind: (kinds) => `Which update: ${anyOf(namesOf(kinds).map((kind) => `\`${kind}\``))}.`,
  project: (kinds) =>
    `The project, as the service names it in its paths; a ${anyOf(kindsBy(kinds, 'id'))} update takes its identifier.`,
  budget: 'The budget.',
  reason: 'Why; kept, and shown to readers.',
  caller: 'Who asked: the `sub` of a token, `schedule:<plan>` or `slack:<user id>`.',
  via: 'Where the request came from.',
  plan: 'The plan that asked.',
  since: 'From this time on.',
  until: 'Before this time.',
  limit: 'How many rows a page has at most; it may be shorter while there is a `next`.',
  cursor: 'The `next` of the page before.',
  window: 'A billing month by its name, such as `month:2026-11-12`; without it the open one.',
  next: 'Ask for the next page with it as `cursor`; absent on the last.',
  perUpdate: 'An update that needs more units is refused.',
  person:
    'Several callers with one person do not approve each other. A chain of persons counts to its end; a circle is refused.',
}
