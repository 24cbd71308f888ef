import { toRfc3339 } from '../../platform/clock.ts'
import type { Forecast } from '../../reports/plans/forecast.ts'

export const showForecast = ({
  exhaustedAt,
  exhaustedAtPace,
  exhaustedBy,
  pricedAt,
  sumsFrom,
  wanted: _wanted,
  ...row
}: Forecast) => ({
  ...row,
  ...(exhaustedAt !== null && { exhaustedAt: toRfc3339(exhaustedAt) }),
  ...(exhaustedBy !== null && { exhaustedBy }),
  ...(exhaustedAtPace !== null && { exhaustedAtPace: toRfc3339(exhaustedAtPace) }),
  pricedAt: pricedAt === null ? null : toRfc3339(pricedAt),
  ...(sumsFrom !== null && { sumsFrom: toRfc3339(sumsFrom) }),
})
