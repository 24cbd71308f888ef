import { Refusal } from '../../../../shared/api/refusal.ts'
import { differencesInWords } from '../../../../shared/guard/people/differences.ts'
import { problem } from '../../../../shared/guard/problems.ts'
import { count, shownCounter, signed, when, zoneOf } from '../../../../shared/guard/sentences.ts'
import type { View } from '../../../../shared/ledger/book/view.ts'
import { type CounterMove, madeAvailable } from '../../../../shared/ledger/definitions/counters.ts'
import { inView } from '../../components/people.tsx'
import { Facts } from '../../kit/facts.tsx'
import { List } from '../../kit/list.tsx'
import { activityPath, BudgetLink, dayNamed, EntryLink, Section, Trail, words, ZoneNote } from '../../kit/parts.tsx'
import type { PageRoutes } from '../../kit/session.tsx'
import { corrected } from './activity.tsx'

/** One entry with its id, all counters that it moved, and the entries that correct each other. */
export function addEntry({ page }: PageRoutes): void {
  page(`${activityPath}/:id`, {
    GET: async ({ c, mustHave, show, guard: { ledger } }) => {
      mustHave('read')
      const id = c.req.param('id') ?? ''
      const entry = /^ent_[0-9a-z]{1,60}$/.test(id) ? await ledger.entry(id) : null
      if (!entry) throw new Refusal(problem('not-found', 'There is no such entry.'))
      const [view, correction] = await Promise.all([ledger.view(), ledger.correctionOf(id)])
      const { time, who } = inView(view)
      const { type, budget, to, by, at, reason, corrects, asOf, changed = [], month } = entry
      return show(
        `Entry: ${words(type)}`,
        <>
          <Trail label="Where this is" above={[['Activity', activityPath]]} here={words(type)} />
          <Section id="entry" title="Entry" isHidden>
            <Facts
              isLong
              rows={[
                ['Time', time(at)],
                ['By', who(by)],
                ['Budget', <BudgetLink name={budget} unseen="another budget" />],
                to !== undefined && ['To', <BudgetLink name={to} />],
                ['Units', count(entry.units)],
                ['Month', `from ${dayNamed(month.slice('month:'.length))}`],
                asOf !== undefined && ['Figure of', when(asOf, zoneOf(view))],
                corrects !== undefined && ['Corrects', corrected(corrects, entry.units)],
                correction !== null && ['Corrected by', <EntryLink id={correction} />],
                ['Id', <code class="id">{id}</code>],
              ]}
            />
            <p>{reason}</p>
            {differencesInWords(changed, view.definitions).map((sentence) => (
              <p class="note">{sentence}</p>
            ))}
          </Section>
          {entry.moves.length === 0 ? null : <Moves moves={entry.moves} view={view} />}
          <ZoneNote zone={zoneOf(view)} />
        </>,
      )
    },
  })
}

const Moves = ({ moves, view: { definitions } }: { moves: readonly CounterMove[]; view: View }) => (
  <Section id="moves" title="What it moved">
    <List
      isInset
      class="chain-effect"
      rows={moves}
      columns={[
        { name: 'Counter', isHead: true, cell: ({ budget }) => shownCounter(definitions, budget) },
        { name: 'Window', cell: ({ window }) => window },
        { name: 'Left', isNumber: true, cell: ({ move }) => signed(madeAvailable(move)) },
      ]}
    />
  </Section>
)
