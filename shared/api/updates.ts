import * as z from 'zod/mini'
import { tagCriteria } from '../guard/tags.ts'
import { nameWhenRequested } from '../ledger/definitions/definitions.ts'
import { deliveryOf, deliveryStates } from '../ledger/updates/delivery.ts'
import { isTerminal, states, tagEntries, type Update, vias } from '../ledger/updates/update.ts'
import { toRfc3339 } from '../platform/clock.ts'
import { budgetName, kindOf, project } from '../records/common-fields.ts'
import type { Kinds } from '../tracking/kinds.ts'
import type { Columns } from './csv.ts'
import { instant, pageCursor, pageLimit, type Texts, text } from './schemas.ts'

export const updateFilterOf = (kinds: Kinds) =>
  z.strictObject({
    state: z.exactOptional(z.enum(states, `must be one of ${states.join(', ')}`)),
    kind: z.exactOptional(kindOf(kinds)),
    project: z.exactOptional(project),
    budget: z.exactOptional(budgetName),
    caller: z.exactOptional(text(256)),
    via: z.exactOptional(z.enum(vias, `must be one of ${vias.join(', ')}`)),
    plan: z.exactOptional(text(200)),
    delivery: z.exactOptional(z.enum(deliveryStates, `must be one of ${deliveryStates.join(', ')}`)),
    tag: z.exactOptional(tagCriteria),
    since: z.exactOptional(instant),
    until: z.exactOptional(instant),
    limit: pageLimit,
    cursor: z.exactOptional(pageCursor),
  })

export const updateFilterTexts: Texts = {
  budget: 'Updates charged to this budget.',
  project:
    'Updates of this project, by its listed name, its id or any spelling of them, or by a name that a budget listed at the time of the request.',
  tag: 'Updates with this tag, as `key:value`. Repeat it for up to 5 tags; an update must have all of them.',
  delivery:
    'Updates whose new data are `awaited`, are `late`, `came`, or whose units were `given-back`. Late updates are listed however old they are, the latest first.',
  state: 'Updates in this state. Open updates come in the order in which they entered the state.',
}

export const updateColumnsAt = (now: number): Columns<Update> => ({
  id: ({ id }) => id,
  createdAt: ({ createdAt }) => toRfc3339(createdAt),
  finishedAt: ({ finishedAt }) => (finishedAt === undefined ? '' : toRfc3339(finishedAt)),
  state: ({ state }) => state,
  kind: ({ kind }) => kind,
  project: ({ project }) => project,
  budget: ({ budget }) => budget,
  window: ({ month }) => month,
  caller: ({ caller }) => caller,
  via: ({ via }) => via,
  plan: ({ plan }) => plan ?? '',
  estimated: ({ estimated }) => estimated ?? '',
  held: ({ hold }) => hold?.units ?? 0,
  charged: ({ charged, state }) => charged ?? (isTerminal(state) ? 0 : ''),
  reason: ({ reason }) => reason ?? '',
  problem: ({ problem }) => problem?.slug ?? '',
  detail: ({ problem }) => problem?.detail ?? '',
  tags: ({ tags }) => jsonOf(tagEntries(tags)),
  wouldHaveRefused: ({ wouldHaveRefused = [] }) =>
    wouldHaveRefused.map(({ budget, window, units }) => `${budget} ${window} ${units}`).join('; '),
  delivery: (update) => deliveryOf(update, now) ?? '',
  projectName: nameWhenRequested,
})

const jsonOf = (tags: ReturnType<typeof tagEntries>): string =>
  tags.length === 0 ? '' : JSON.stringify(Object.fromEntries(tags))
