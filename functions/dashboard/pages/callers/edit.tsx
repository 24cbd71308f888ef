import * as z from 'zod/mini'
import { reason } from '../../../../shared/api/schemas.ts'
import { listedAs } from '../../../../shared/guard/people/callers.ts'
import { rootBudget, unlistedCallers } from '../../../../shared/ledger/definitions/definitions.ts'
import { subject } from '../../../../shared/records/common-fields.ts'
import { asSentence, flashOf } from '../../forms.ts'
import { ActionForm, action } from '../../kit/action.tsx'
import { editPage } from '../../kit/edit.tsx'
import { callerAddress, callersAddress, Sign, Trail } from '../../kit/parts.tsx'
import type { PageRoutes, Visit } from '../../kit/session.tsx'
import {
  allBudgets,
  isSlack,
  labels,
  namesIn,
  shownCaller,
  type Texts,
  textsIn,
  textsOf,
  toCaller,
  valueText,
} from './caller-texts.ts'
import { consequencesOf, groupsOf, type OpenCaller } from './edit-form.ts'

const removalSchema = z.strictObject({ sub: subject, revision: z.string(), reason: z.exactOptional(reason) })

export function addCallerEdit({ page }: PageRoutes): void {
  page(
    `${callersAddress}/edit`,
    editPage({
      kind: 'caller',
      labels,
      open,
      textsIn,
      shownText: valueText,
      groups: groupsOf,
      path: () => `${callersAddress}/edit`,
      back: () => callersAddress,
      hidden: ({ name }) => ({ sub: name }),
      whyNot: ({ name, texts }, { session }) => (name === session.sub && locksOutSelf(texts) ? notYourself : undefined),
      changeOf: ({ name, texts, listed = {} }, guard) => {
        const parsed = toCaller(name, texts, listed)
        if (parsed.kind === 'invalid') return parsed
        return {
          put: (by) => guard.putCaller(name, parsed.caller, by),
          preview: (by) => guard.previewCaller(name, parsed.caller, by),
        }
      },
      effect: (edit, { after }) => ({ beside: <Consequences sentences={consequencesOf(edit, after)} /> }),
      words: {
        title: ({ name }) =>
          name === unlistedCallers ? 'Rules for callers that are not listed' : `What ${name} may do`,
        question: ({ name }) => `Change ${shownCaller(name)}?`,
        changed: ({ name }) => `The permissions of ${shownCaller(name)} are changed from the next request on.`,
        already: ({ name }) => `The permissions of ${shownCaller(name)} are already as you want them.`,
      },
      above: (edit) => <Above {...edit} />,
      below: (edit, visit) =>
        edit.listed && edit.name !== visit.session.sub ? <RemovalForm edit={edit} visit={visit} /> : null,
    }),
  )

  page(`${callersAddress}/delete`, {
    POST: action({
      scopes: ['admin'],
      schema: removalSchema,
      back: ({ form }) => callerAddress(form.get('sub') ?? ''),
      act: async ({ session, guard }, { sub, revision, ...said }) => {
        if (sub === session.sub) return { done: [], failed: [notYourself], to: callersAddress }
        const result = await guard.deleteCaller(sub, { caller: session.sub, ...said, onlyAt: [Number(revision)] })
        const done = sub === unlistedCallers ? 'The rules are removed.' : `${sub} is removed from the list.`
        return { ...flashOf(result, done), ...(result.kind === 'changed' && { to: callersAddress }) }
      },
    }),
  })
}

async function open({ form, query, redirect, guard }: Visit): Promise<OpenCaller | Response> {
  const typed = form.get('sub') ?? query.get('sub') ?? ''
  const parsed = subject.safeParse(typed.trim())
  if (!parsed.success) {
    const faults = { sub: asSentence(parsed.error.issues[0]?.message ?? '') }
    return redirect({ done: [], failed: [], faults, input: { sub: typed } }, `${callersAddress}#list`)
  }
  const { data: name } = parsed
  const view = await guard.ledger.view()
  const listed = listedAs(view.definitions, name)
  return { view, name, listed, current: textsOf(name, listed ?? {}) }
}

export const notYourself =
  'Someone else has to disable you, remove your scope admin or narrow what you read: you could not undo it.'
const locksOutSelf = ({ scopes, readsBudgets }: Texts) =>
  !scopes.split(' ').includes('admin') ||
  // A caller who reads only some budgets is not an administrator.
  ![allBudgets, rootBudget].some((all) => namesIn(readsBudgets).includes(all))

const Above = ({ name, listed }: OpenCaller) => (
  <>
    <Trail label="Where this is" above={[['Callers', callersAddress]]} here={shownCaller(name)} />
    {listed || name === unlistedCallers ? null : <p class="note">{name} is not listed yet.</p>}
    {listed?.disabled ? (
      <p class="warning">
        <Sign name="warning" /> {name} is disabled, and stays so.{' '}
        <a href={`${callersAddress}#stop`}>Enable it among the callers</a>
      </p>
    ) : null}
  </>
)

const Consequences = ({ sentences }: { sentences: readonly string[] }) => (
  <>
    {sentences.map((sentence) => (
      <p>{sentence}</p>
    ))}
    <p class="note">This applies from the next request on. Updates that run now finish.</p>
  </>
)

function afterRemoval(sub: string): string {
  if (sub === unlistedCallers) return 'Callers that are not listed then have no limits of their own.'
  return isSlack(sub) ? 'This user may then do nothing in Slack.' : 'Then their token alone decides what they may do.'
}

const RemovalForm = ({ edit: { name, view, listed }, visit: { frame } }: { edit: OpenCaller; visit: Visit }) => (
  <details class="card">
    <summary>{name === unlistedCallers ? 'Remove these rules' : `Remove ${name} from the list`}</summary>
    <p class="note">{afterRemoval(name)}</p>
    {listed?.disabled ? (
      <p class="warning">
        <Sign name="warning" /> This caller is disabled. Removing it from the list enables it:{' '}
        {isSlack(name) ? 'listing the user again gives access.' : 'its tokens work again.'}
      </p>
    ) : null}
    <ActionForm
      frame={frame}
      id="delete"
      action={`${callersAddress}/delete`}
      reason="optional"
      hidden={{ sub: name, revision: String(view.definitions.revision) }}
      buttons={[{ text: `Remove ${name === unlistedCallers ? 'rules' : name}` }]}
    />
  </details>
)
