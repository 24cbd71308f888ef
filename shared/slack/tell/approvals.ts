import { noApproverNow } from '../../guard/people/approvers.ts'
import { whyNotApprove } from '../../guard/people/decisions.ts'
import { permissionsOf } from '../../guard/people/permissions.ts'
import { nearNameReason, ownerPaidFor } from '../../guard/rules/projects.ts'
import type { View } from '../../ledger/book/view.ts'
import type { Update } from '../../ledger/updates/update.ts'
import { approvalMessage, approvalsMessage } from '../messages/decisions.ts'
import { decidedMessage, deciderOf } from '../messages/updates.ts'
import { updatesNamed } from './answer.ts'
import { type ComposerParts, channelOf, type Place, type Question } from './place.ts'

const asks = 'awaiting-approval'

/** After the decision, a posted message is composed again and an unsent message is dropped. */
export async function composeApproval(
  id: string,
  place: Place,
  { isReminder }: { readonly isReminder: boolean },
): Promise<Question | null> {
  const { guard, view, hasBot, posted, shown, zone, dashboardUrl, together = [] } = place
  const update = await guard.ledger.update(id)
  if (!update || (!posted && update.state !== asks)) return null
  const how = { zone, dashboardUrl }
  const updates = posted
    ? await updatesNamed(guard, posted.updates ?? [update.id])
    : [update, ...together.slice(0, maxTogether - 1)]
  const rows = updates.map((each) => ({
    update: shown(each),
    owner: ownerPaidFor(view.definitions, each),
    approvers: hasBot && each.state === asks ? approversInSlack(view, each) : [],
    noApprover: each.state === asks ? noApproverNow(view.definitions, each) : null,
    near: nearNameReason(view.definitions, each.project),
  }))
  const [single] = rows
  const message =
    rows.length > 1 || !single
      ? approvalsMessage({ rows, isReminder, ...how })
      : single.update.state === asks
        ? approvalMessage({ ...single, isReminder, hasModals: hasBot, ...how })
        : decidedMessage({ update: single.update, by: deciderOf(single.update, asks), ...how })
  return { message, updates: updates.map(({ id }) => id) }
}

/** The buttons of more updates leave no room for their texts. */
export const maxTogether = 7
const maxRead = 200

/** An update that waits with another one. */
export interface Waiting {
  readonly update: Update
  /** Whether one message may show both. Others may share a message with updates that are near. */
  readonly isNear: boolean
}

/** Finds other updates of the same request or occurrence that go to the same channel, and that wait about as long. */
export async function awaitingWith(
  { guard: { ledger } }: Pick<ComposerParts, 'guard'>,
  update: Update,
): Promise<readonly Waiting[]> {
  const [press] = update.replyTo ?? []
  if (update.content.count < 2 && press === undefined && update.scheduledAt === undefined) return []
  const { definitions } = await ledger.view()
  const { rows } = await ledger.open(asks, maxRead)
  const all = rows.filter(
    (other) =>
      other.caller === update.caller &&
      other.replyTo?.[0] === press &&
      (press !== undefined || isAskedWith(update, other)) &&
      channelOf(definitions, other.budget) === channelOf(definitions, update.budget),
  )
  // The index may lack the update itself.
  const at = Math.max(0, all.map(({ id }) => id).indexOf(update.id))
  return all.flatMap((other, place) => {
    const distance = Math.abs(place - at)
    const isFar = distance > 2 * (maxTogether - 1)
    return other.id === update.id || isFar ? [] : [{ update: other, isNear: distance < maxTogether }]
  })
}

const isAskedWith = ({ scheduledAt, content, createdAt }: Update, other: Update): boolean =>
  scheduledAt === undefined
    ? other.content.digest === content.digest && other.createdAt === createdAt
    : other.scheduledAt === scheduledAt

const approversInSlack = (view: View, update: Update): string[] =>
  Object.keys(view.definitions.callers ?? {}).filter(
    (caller) =>
      /^slack:[UW]/.test(caller) &&
      permissionsOf(view.definitions, { caller }).scopes.has('approve') &&
      whyNotApprove(update, view, { caller }) === null,
  )
