import type { Hono } from 'hono'
import { showForecast } from '../../../../shared/api/reports/forecast.ts'
import type { Shown } from '../../../../shared/api/shown.ts'
import { reportsOf } from '../../../../shared/reports/reports.ts'
import { type ApiEnv, mustHave } from '../../context.ts'
import type { Operation } from '../../operation.ts'
import { route } from '../../route.ts'

export function addForecast(app: Hono<ApiEnv>): void {
  route(app, '/forecast', {
    GET: async (c) => {
      const { guard } = await mustHave(c, 'read')
      const { forecast } = await reportsOf(guard)
      return c.json<Shown<'Forecast'>>({ budgets: (await forecast()).map(showForecast) })
    },
  })
}

export const forecastOperations: readonly Operation[] = [
  {
    method: 'GET',
    path: '/forecast',
    id: 'getForecast',
    scopes: ['read'],
    summary: 'Forecasts how many units plans will still take from each budget, and when the budget runs out',
    answers: { 200: { description: 'The forecast, with prices that the guard reads once a night', body: 'Forecast' } },
    problems: [],
  },
]
