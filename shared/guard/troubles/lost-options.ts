import type { Clock } from '../../platform/clock.ts'
import { type DeployedOptions, losableOptions } from '../deployed-options.ts'
import { isSame, type Noted, type NotedTroubles, withOnly } from './noted.ts'

/** Writes only what a deployment changed. @returns what was noted before. */
export async function noteOptions(
  items: NotedTroubles,
  {
    deployedOptions: deployed,
    clock,
  }: { readonly deployedOptions?: DeployedOptions | undefined; readonly clock: Clock },
): Promise<Noted> {
  const noted = await items.read()
  if (!deployed) return noted
  const now = clock.now()
  const change = (before: Noted) => withOptions(before, deployed, now)
  if (!isSame(noted, change(noted))) await items.change(change)
  return noted
}

/** An option that a deployment had stays expected until a deployment has it again, or is without it on purpose. */
function withOptions(noted: Noted, deployed: DeployedOptions, now: number): Noted {
  const before = noted.options ?? []
  const expected = losableOptions.filter(
    (name) => deployed[name] === 'given' || (deployed[name] === 'missing' && before.includes(name)),
  )
  const lost = expected.filter((name) => deployed[name] === 'missing')
  const troubles = lost.map((about) => ({ slug: 'option-lost', about, since: now }))
  return { ...withOnly(noted, ({ slug }) => slug === 'option-lost', troubles), options: expected }
}
