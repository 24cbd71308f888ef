import type { Forecast } from '../../reports/plans/forecast.ts'
import { defined, type Shown } from '../shown.ts'
import { timeIfAny, timeOrNull } from '../to-json.ts'

type ShownForecast = Shown<'Forecast'>['budgets'][number]

export const showForecast = ({ wanted: _wanted, isWantedAtLeast: _least, ...row }: Forecast): ShownForecast =>
  defined({
    ...row,
    exhaustedAt: timeIfAny(row.exhaustedAt),
    exhaustedBy: row.exhaustedBy ?? undefined,
    exhaustedAtPace: timeIfAny(row.exhaustedAtPace),
    pricedAt: timeOrNull(row.pricedAt),
    sumsFrom: timeIfAny(row.sumsFrom),
  })
