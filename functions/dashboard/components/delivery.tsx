import { deliveryScopes } from '../../../shared/guard/inbox/close-delivery.ts'
import { count, units as inUnits } from '../../../shared/guard/sentences.ts'
import type { View } from '../../../shared/ledger/book/view.ts'
import { type DeliveryState, deliveryOf, isUndelivered } from '../../../shared/ledger/updates/delivery.ts'
import type { Update } from '../../../shared/ledger/updates/update.ts'
import { ActionForm, fieldsOf } from '../kit/action.tsx'
import { TextField } from '../kit/fields.tsx'
import { Fold, isRefilled } from '../kit/fold.tsx'
import { BudgetLink, dayNamed, ProjectLink, Section, say, updateAddress } from '../kit/parts.tsx'
import type { Visit } from '../kit/session.tsx'

const deliveryAddress = (id: string): string => `${updateAddress(id)}/delivery`

const sentences: Readonly<Record<DeliveryState, string>> = {
  awaited: 'The service has no new data of this run yet. The nightly look goes through its dates.',
  late: 'Paid, nothing delivered: the service has no new data of this run. Ask it for the units back.',
  came: 'The data of this run came.',
  'given-back': 'The data of this run did not come, and the service gave units back.',
}

/** A person closes the delivery of data that did not come; data that come later close it, too. */
export function DeliverySection({ visit, update, view }: { visit: Visit; update: Update; view: View }) {
  const delivery = deliveryOf(update, view.now)
  if (delivery === null) return null
  const { date } = update.delivery ?? {}
  const { scopes } = visit.permissions
  const may = (outcome: keyof typeof deliveryScopes) =>
    isUndelivered(update) && deliveryScopes[outcome].some((scope) => scopes.has(scope))
  const field = fieldsOf(visit.frame, 'delivery')
  const buttons = [
    ...(may('came') ? [{ text: 'It came', name: 'outcome', value: 'came' }] : []),
    ...(may('given-back') ? [{ text: 'Units were given back', name: 'outcome', value: 'given-back' }] : []),
  ]
  return (
    <Section id="delivery" title="Data">
      <p>
        {sentences[delivery]}
        {date === undefined ? null : ` The service has data of ${dayNamed(date)}.`}
      </p>
      {buttons.length === 0 ? null : (
        <Fold id="close-delivery" title="Close the delivery" isOpen={isRefilled(visit.frame, 'units')}>
          <ActionForm
            frame={visit.frame}
            id="delivery"
            action={deliveryAddress(update.id)}
            reason="required"
            buttons={buttons}
          >
            {may('given-back') ? (
              <TextField
                {...field('units')}
                label={`Units given back (empty: the ${count(update.charged ?? 0)} charged)`}
                isNumber
              />
            ) : null}
          </ActionForm>
        </Fold>
      )}
    </Section>
  )
}

/** Updates in the inbox that were paid and whose data did not come. */
export const UndeliveredSection = ({ updates, view }: { updates: readonly Update[]; view: View }) =>
  updates.length === 0 ? null : (
    <Section id="undelivered" title={`Paid, nothing delivered: ${count(updates.length)}`}>
      <ul class="lines">
        {updates.map((update) => (
          <li>
            <ProjectLink of={update} definitions={view.definitions} />{' '}
            <a href={`${updateAddress(update.id)}#close-delivery`}>{update.kind}</a> on{' '}
            <BudgetLink name={update.budget} />
            {say`: ${<strong>{inUnits(update.charged ?? 0)}</strong>}`} charged for the run of{' '}
            {dayNamed((update.hold?.day ?? '').slice('day:'.length))}
          </li>
        ))}
      </ul>
      <p class="note">Ask the service for the units back, then close its delivery on the update’s page.</p>
    </Section>
  )
