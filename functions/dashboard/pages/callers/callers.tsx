import * as z from 'zod/mini'
import { subject } from '../../../../shared/api/callers.ts'
import { Refusal } from '../../../../shared/api/refusal.ts'
import { reason } from '../../../../shared/api/schemas.ts'
import { problem } from '../../../../shared/guard/problems.ts'
import { count, figuresOf, left, zoneOf } from '../../../../shared/guard/sentences.ts'
import type { Services } from '../../../../shared/guard/services.ts'
import { type Caller, limitOf, limitsOfCaller, windowKinds } from '../../../../shared/ledger/book/definitions.ts'
import type { View } from '../../../../shared/ledger/views/views.ts'
import { IgnoreEnter, ReasonField, TextField } from '../../components/fields.tsx'
import { FormToken } from '../../components/layout.tsx'
import { callerAddress, callersAddress, Fact, Facts, Section, ZoneNote } from '../../components/parts.tsx'
import type { FormValues } from '../../flash.ts'
import { forEachId, inputOf, readFields } from '../../forms.ts'
import type { PageRoutes, Visit } from '../../session.tsx'
import { isSlack } from './caller-texts.ts'
import { addCallerEdit, notYourself } from './edit.tsx'

const disablingSchema = z
  .strictObject({
    form: z.string(),
    do: z.enum(['disable', 'enable'], 'must be one of the buttons'),
    sub: z._default(z.array(subject).check(z.maxLength(100, 'must have at most 100 callers')), []),
    other: z.exactOptional(subject),
    reason,
  })
  .check(
    z.refine(({ sub, other }) => sub.length > 0 || other !== undefined, {
      path: ['sub'],
      message: 'needs at least one caller: choose some first, or name one',
    }),
  )

export function addCallerPages(routes: PageRoutes, services: Services): void {
  const { guard, log } = services
  addCallerEdit(routes, services)

  routes.page(callersAddress, {
    GET: async (visit) => {
      visit.mustHave('admin')
      const view = await guard.ledger.view()
      return visit.show(
        'Callers',
        <>
          <p class="note">
            For whoever asks with a token, what is listed here narrows it; for somebody in Slack, it is all that they
            may do. Whoever is disabled can do nothing at all, from the next request on.
          </p>
          <form method="post" action={callersAddress} class="sheet">
            <FormToken frame={visit.frame} />
            <CallerList view={view} visit={visit} />
            <DisableForm input={visit.frame.flash?.input} />
          </form>
          <AddCallerForm />
          <ZoneNote zone={zoneOf(view)} />
        </>,
      )
    },

    POST: async ({ form, mustHave, session, redirect }) => {
      mustHave('admin')
      try {
        const { do: action, sub, other, reason } = readFields(form, disablingSchema, ['sub'])
        const by = { caller: session.sub, reason, disabled: action === 'disable' }
        const disable = async (name: string) => {
          if (by.disabled && name === session.sub)
            return { kind: 'problem', problem: problem('forbidden', notYourself) } as const
          const result = await guard.disableCaller(name, by)
          return result.kind === 'problem' ? result : ({ kind: 'disabled', name } as const)
        }
        const outcomes = await forEachId([...sub, ...(other === undefined ? [] : [other])], disable, log)
        const failed = outcomes.flatMap((each) => (each.kind === 'problem' ? [each.problem.detail] : []))
        const done = outcomes.flatMap((each) => (each.kind === 'disabled' ? [`${each.name} is ${action}d.`] : []))
        return redirect({ done, failed }, callersAddress)
      } catch (error) {
        if (!(error instanceof Refusal)) throw error
        const input = inputOf(form, 'other', 'reason')
        return redirect({ done: [], failed: [error.problem.detail], input }, callersAddress)
      }
    },
  })
}

function CallerList({ view, visit }: { view: View; visit: Visit }) {
  const callers = Object.entries(view.definitions.callers ?? {}).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return (
    <Section id="listed" title="Listed">
      {callers.length === 0 ? (
        <p class="empty">
          Nobody is listed: a token's own scopes and budgets hold for them, and nobody in Slack may do anything. List
          somebody below, by name.
        </p>
      ) : (
        <ul class="waiting-list">
          {callers.map(([sub, caller]) => (
            <CallerRow {...{ sub, caller, view, visit }} />
          ))}
        </ul>
      )}
    </Section>
  )
}

const DisableForm = ({ input }: { input: FormValues | undefined }) => (
  <Section id="stop" title="Disable or enable">
    <p class="note">Those chosen above, and one more whom nobody has listed: a token that got into wrong hands.</p>
    <div class="fields">
      <TextField
        formId="stop"
        name="other"
        label="Somebody not listed (may be left out)"
        value={input?.other}
        maxLength={200}
      />
      <ReasonField formId="stop" value={input?.reason} />
    </div>
    <p class="buttons">
      <IgnoreEnter />
      <button type="submit" name="do" value="disable">
        Disable
      </button>
      <button type="submit" name="do" value="enable">
        Enable
      </button>
    </p>
  </Section>
)

const AddCallerForm = () => (
  <Section id="list" title="List somebody">
    <form method="get" action={callerAddress()}>
      <div class="fields">
        <TextField
          formId="list"
          name="sub"
          label="Name"
          maxLength={200}
          note="The sub of a token, or slack: and a member ID, as slack:U02ADA."
          isRequired
        />
      </div>
      <p class="buttons">
        <button type="submit">Go on</button>
      </p>
    </form>
  </Section>
)

function CallerRow({ sub, caller, view, visit }: { sub: string; caller: Caller; view: View; visit: Visit }) {
  const { scopes, budgets, person, disabled, mayForce, mayChargeAncestors, perUpdate, ratePerMinute } = caller
  const defaultText = isSlack(sub) ? 'none' : 'as the token says'
  return (
    <li>
      {sub === visit.session.sub ? (
        <span class="no-box" />
      ) : (
        <input type="checkbox" name="sub" value={sub} aria-label={`Choose ${sub}`} />
      )}
      <div>
        <p class="what">
          {sub}
          {person === undefined ? null : <span class="note"> is {person}</span>}
          {sub === visit.session.sub ? <span class="note"> (you: somebody else has to disable you)</span> : null}
        </p>
        {disabled ? (
          <p class="failed">
            <span aria-hidden="true">✕</span> Disabled: whatever they ask for is refused.
          </p>
        ) : null}
        <Facts>
          <Fact name="Scopes">{scopes ? scopes.join(', ') || 'none' : defaultText}</Fact>
          <Fact name="Budgets">
            {budgets === undefined ? defaultText : budgets === '*' ? 'all' : budgets.join(', ') || 'none'}
          </Fact>
          {mayForce ? <Fact name="May force">yes</Fact> : null}
          {mayChargeAncestors ? <Fact name="May charge ancestors of an owner">yes</Fact> : null}
          {perUpdate === undefined ? null : <Fact name="At most for one update">{count(perUpdate)}</Fact>}
          {ratePerMinute === undefined ? null : <Fact name="Requests a minute">{count(ratePerMinute)}</Fact>}
        </Facts>
        <CallerLimits sub={sub} view={view} />
        <p>
          <a href={callerAddress(sub)} aria-label={`Change what ${sub} may do`}>
            Change
          </a>
        </p>
      </div>
    </li>
  )
}

function CallerLimits({ sub, view }: { sub: string; view: View }) {
  const [limitedCaller] = limitsOfCaller(view.definitions, sub)
  if (!limitedCaller) return null
  const windows = windowKinds.filter((window) => limitOf(limitedCaller, window) !== 'unlimited')
  return (
    <>
      {windows.map((window) => (
        <p>{left(figuresOf(view, limitedCaller, window))}.</p>
      ))}
    </>
  )
}
