import type { Hono } from 'hono'
import { showForecast } from '../../../shared/api/to-json.ts'
import { type ApiEnv, mustHave } from '../context.ts'
import type { Operation } from '../operation.ts'
import { route } from '../route.ts'

export function addForecast(app: Hono<ApiEnv>): void {
  route(app, '/forecast', {
    GET: async (c) => {
      const { guard } = await mustHave(c, 'read')
      return c.json({ budgets: (await guard.forecast()).map(showForecast) })
    },
  })
}

export const forecastOperations: readonly Operation[] = [
  {
    ...{ method: 'GET', path: '/forecast', id: 'forecast', scopes: ['read'] },
    summary: 'Forecasts what plans will still take from each budget, and when it will run out',
    answers: { 200: { description: 'At prices that are read once a night', body: 'Forecast' } },
    problems: [],
  },
]
