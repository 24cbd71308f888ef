import type { Child } from 'hono/jsx'
import * as z from 'zod/mini'
import { reason } from '../../../../shared/api/schemas.ts'
import { problem } from '../../../../shared/guard/problems.ts'
import { count, ownLimitsLeft, shownCaller, zoneOf } from '../../../../shared/guard/sentences.ts'
import type { NextStop } from '../../../../shared/guard/shown-budget.ts'
import type { View } from '../../../../shared/ledger/book/view.ts'
import {
  type Caller,
  type CallerDefaults,
  personOf,
  unlistedCallers,
} from '../../../../shared/ledger/definitions/definitions.ts'
import type { Update } from '../../../../shared/ledger/updates/update.ts'
import { subject } from '../../../../shared/records/common-fields.ts'
import { reportsOf } from '../../../../shared/reports/reports.ts'
import { Who } from '../../components/people.tsx'
import { forEachId } from '../../forms.ts'
import { action, Buttons, fieldsOf } from '../../kit/action.tsx'
import { type FactRow, Facts } from '../../kit/facts.tsx'
import { IgnoreEnter, ReasonField, TextField } from '../../kit/fields.tsx'
import { FoldedSection, isRefilled } from '../../kit/fold.tsx'
import { FormToken, type Frame } from '../../kit/layout.tsx'
import { Ago, callerAddress, callersAddress, Section, Sign, Units, ZoneNote } from '../../kit/parts.tsx'
import type { PageRoutes, PageServices, Visit } from '../../kit/session.tsx'
import { Approvers } from './approvers.tsx'
import { isSlack } from './caller-texts.ts'
import { addCallerEdit, notYourself } from './edit.tsx'

const recentUpdates = 100

const disablingSchema = z
  .strictObject({
    do: z.enum(['disable', 'enable'], 'must be one of the buttons'),
    sub: z._default(z.array(subject).check(z.maxLength(100, 'must have at most 100 callers')), []),
    other: z.exactOptional(subject),
    reason,
  })
  .check(
    z.refine(({ sub, other }) => sub.length > 0 || other !== undefined, {
      path: ['sub'],
      message: 'choose at least one caller, or name one',
    }),
  )

export function addCallerPages(routes: PageRoutes, services: PageServices): void {
  const { log } = services
  addCallerEdit(routes)

  routes.page(callersAddress, {
    GET: async (visit) => {
      visit.mustHave('admin')
      const { guard } = visit
      const reports = await reportsOf(guard)
      const viewRead = guard.ledger.view()
      const latestRead = guard.ledger.updates({}, recentUpdates).then(({ rows }) => rows)
      const [view, rows, spentBy, stops] = await Promise.all([
        viewRead,
        latestRead,
        viewRead.then((view) => reports.spentByPerson(view, latestRead)),
        viewRead.then(reports.callerStops),
      ])
      const seenAt = new Map(rows.map(({ caller, createdAt }) => [caller, createdAt] as const).toReversed())
      return visit.show(
        'Callers',
        <>
          <p class="note">
            An entry in this list can only narrow what a caller's token allows. Users in Slack may do only what is
            listed. A disabled caller can do nothing from the next request on.
          </p>
          <Approvers definitions={view.definitions} rows={rows} />
          <form method="post" action={callersAddress} class="sheet">
            <FormToken frame={visit.frame} />
            <CallerList view={view} visit={visit} spentBy={spentBy} seenAt={seenAt} stops={stops} />
            <NotListed view={view} rows={rows} />
            <DisableFields frame={visit.frame} />
          </form>
          <UnlistedSection view={view} />
          <AddCallerForm frame={visit.frame} />
          <ZoneNote zone={zoneOf(view)} />
        </>,
      )
    },

    POST: action({
      scopes: ['admin'],
      schema: disablingSchema,
      lists: ['sub'],
      keeps: ['other', 'reason'],
      back: () => callersAddress,
      act: async ({ session, guard }, { do: button, sub, other, reason }) => {
        const by = { caller: session.sub, reason, disabled: button === 'disable' }
        const disable = async (name: string) => {
          if (by.disabled && name === session.sub)
            return { kind: 'problem', problem: problem('forbidden', notYourself) } as const
          const result = await guard.disableCaller(name, by)
          return result.kind === 'problem' ? result : ({ kind: 'disabled', name } as const)
        }
        const outcomes = await forEachId([...sub, ...(other === undefined ? [] : [other])], disable, log)
        const failed = outcomes.filter((each) => each.kind === 'problem').map((each) => each.problem.detail)
        const done = outcomes.filter((each) => each.kind === 'disabled').map((each) => `${each.name} is ${button}d.`)
        return { done, failed }
      },
    }),
  })
}

interface ListProps {
  readonly view: View
  readonly visit: Visit
  readonly spentBy: ReadonlyMap<string, number>
  /** The time of each caller's last request among the latest updates. */
  readonly seenAt: ReadonlyMap<string, number>
  readonly stops: ReadonlyMap<string, NextStop>
}

function CallerList(lists: ListProps) {
  const { definitions } = lists.view
  const nameOf = (sub: string) => `${personOf(definitions, sub)} ${sub}`
  const callers = Object.entries(definitions.callers ?? {}).toSorted(([a], [b]) => (nameOf(a) < nameOf(b) ? -1 : 1))
  return (
    <Section id="listed" title="Listed">
      {callers.length === 0 ? (
        <p class="empty">
          No callers are listed. Tokens alone decide, and users in Slack may do nothing. Add a caller below.
        </p>
      ) : null}
      <ul class="waiting-list">{callers.map(([sub, caller]) => listedCaller(sub, caller, lists))}</ul>
    </Section>
  )
}

function listedCaller(sub: string, caller: Caller, { view, visit, spentBy, seenAt, stops }: ListProps) {
  const { person, disabled } = caller
  const isSelf = sub === visit.session.sub
  const seen = seenAt.get(sub)
  return (
    <CallerItem
      sub={sub}
      isDisabled={disabled}
      link="Change"
      isChoosable={!isSelf}
      title={[
        <Who name={sub} definitions={{}} />,
        person === undefined ? null : <span class="note"> is {person}</span>,
        isSelf ? <span class="note"> (you: someone else has to disable you)</span> : null,
      ]}
      facts={[
        ['Spent this month', <Units units={spentBy.get(personOf(view.definitions, sub)) ?? 0} />],
        [
          'Last update',
          seen === undefined ? (
            <span class="unknown">not among the latest {recentUpdates}</span>
          ) : (
            <Ago at={seen} view={view} />
          ),
        ],
        ...mayFacts(sub, caller),
      ]}
      sentences={[
        disabled ? '' : (stops.get(sub)?.sentence ?? ''),
        ...ownLimitsLeft(view, sub).map((each) => `${each}.`),
      ]}
    />
  )
}

export function mayFacts(sub: string, caller: Caller): readonly FactRow[] {
  const { scopes, budgets, readsBudgets, mayForce, mayChargeAncestors } = caller
  const defaultText = isSlack(sub) ? 'none' : 'as the token says'
  return [
    ['Scopes', scopes ? scopes.join(', ') || 'none' : defaultText],
    ['Budgets', budgets === undefined ? defaultText : budgets === '*' ? 'all' : budgets.join(', ') || 'none'],
    readsBudgets && ['Reads only', readsBudgets.join(', ') || 'nothing'],
    mayForce && ['May force', 'yes'],
    mayChargeAncestors && ['May charge ancestors of an owner', 'yes'],
    ...limitFacts(caller),
  ]
}

const limitFacts = ({ perUpdate, ratePerMinute }: CallerDefaults): readonly FactRow[] => [
  perUpdate !== undefined && ['At most for one update', count(perUpdate)],
  ratePerMinute !== undefined && ['Requests a minute', count(ratePerMinute)],
]

interface CallerProps {
  readonly sub: string
  readonly title?: Child
  readonly facts: readonly FactRow[]
  readonly isDisabled?: boolean | undefined
  readonly sentences?: readonly string[]
  /** The link to the caller's form, for administrators. */
  readonly link?: 'Change' | 'Limit' | null
  /** `false`: other callers of the list can be chosen, but not this caller. */
  readonly isChoosable?: boolean
}

export const CallerItem = ({ sub, title = sub, isDisabled, isChoosable, link, ...told }: CallerProps) => (
  <li class="caller">
    {isChoosable ? <input type="checkbox" name="sub" value={sub} aria-label={`Choose ${sub}`} /> : null}
    {isChoosable === false ? <span class="no-box" /> : null}
    <div>
      <p class="what">{title}</p>
      {isDisabled ? (
        <p class="failed">
          <Sign name="cross" /> Disabled: every request is refused.
        </p>
      ) : null}
      <Facts isLong rows={told.facts} />
      {told.sentences?.map((sentence) => sentence && <p>{sentence}</p>)}
      {link && (
        <p class="change">
          <a href={callerAddress(sub)}>{`${link} what ${shownCaller({}, sub)} may do`}</a>
        </p>
      )}
    </div>
  </li>
)

/** Leaves out plans: plans are callers, too, but the plans file defines them. */
function NotListed({ view, rows }: { view: View; rows: readonly Update[] }) {
  const listed = view.definitions.callers ?? {}
  const unlisted = rows.filter(({ caller, plan }) => plan === undefined && !Object.hasOwn(listed, caller))
  const latest = unlisted.filter(({ caller }, place) => unlisted.findIndex((each) => each.caller === caller) === place)
  if (latest.length === 0) return null
  return (
    <Section id="lately" title="Asked lately, not listed">
      <p class="note">Callers of the latest {recentUpdates} updates. Their tokens alone decide what they may do.</p>
      <ul class="waiting-list">
        {latest.map(({ caller, createdAt, token, via }) => (
          <CallerItem
            sub={caller}
            link="Limit"
            isChoosable
            facts={[
              ['Last update', [<Ago at={createdAt} view={view} />, ` via ${via}`]],
              ['Token from', token?.issuer ? `issuer ${token.issuer.name}` : 'Unit Guard'],
            ]}
          />
        ))}
      </ul>
    </Section>
  )
}

const DisableFields = ({ frame }: { frame: Frame }) => (
  <FoldedSection id="stop" title="Disable or enable callers" isOpen={isRefilled(frame, 'other')}>
    <p class="note">Applies to the chosen callers and to another caller, such as the one of a leaked token.</p>
    <div class="fields">
      <TextField {...fieldsOf(frame, 'stop')('other')} label="Another caller (optional)" maxLength={256} />
      <ReasonField {...fieldsOf(frame, 'stop')('reason')} />
    </div>
    <IgnoreEnter />
    <Buttons of={(['Disable', 'Enable'] as const).map((text) => ({ text, name: 'do', value: text.toLowerCase() }))} />
  </FoldedSection>
)

const UnlistedSection = ({
  view: {
    definitions: { unlisted },
  },
}: {
  view: View
}) => (
  <Section id="unlisted" title="Callers that are not listed">
    <Facts rows={limitFacts(unlisted ?? {})} />
    <p>
      {unlisted ? null : 'No rules are set. Tokens alone decide. '}
      <a href={callerAddress(unlistedCallers)}>{unlisted ? 'Change these rules' : 'Set limits for them'}</a>
    </p>
  </Section>
)

const AddCallerForm = ({ frame }: { frame: Frame }) => (
  <FoldedSection id="list" title="Add a caller" isOpen={isRefilled(frame, 'sub')}>
    <form method="get" action={callerAddress()}>
      <div class="fields">
        <TextField
          {...fieldsOf(frame, 'list')('sub')}
          label="Name"
          maxLength={256}
          isRequired
          note="The sub of a token, a Slack member ID such as slack:U02ADA, or an issuer's caller such as okta:ada@acme.com."
        />
      </div>
      <Buttons of={[{ text: 'Continue', tone: 'primary' }]} />
    </form>
  </FoldedSection>
)
