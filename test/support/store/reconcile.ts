import type { Product } from '../product.ts'

type How = Parameters<Product['call']>[2]

/** Reconciles as a person does: a preview, then the booking of the difference that it showed. */
export async function reconcile({ call }: Pick<Product, 'call'>, body: object, how: How = {}) {
  const preview = await call('POST', '/budgets/account/reconcile?dry-run=true', { ...how, body })
  if (preview.status !== 200) return preview
  return call('POST', '/budgets/account/reconcile', { ...how, body: { ...body, difference: preview.body.units } })
}
