import { expect, test } from 'vitest'
import { createDashboard } from '../../functions/dashboard/app.ts'
import { runMonth } from '../../infra/local/demo/month.ts'
import { signCallerToken } from '../../infra/local/secrets.ts'
import { scopes } from '../../shared/platform/words.ts'
import { pages } from '../browser/pages.ts'
import { openBrowser, withSigns } from '../support/browser/browser.ts'
import { findPlaces } from '../support/browser/places.ts'
import { openMonthWithTarget } from '../support/month.ts'

const more = ['/dashboard/statements?by=caller', '/dashboard/activity?kind=bookings']

/** One line for each element with text of its own; ids differ from run to run. */
const readable = (html: string): string =>
  withSigns(/<main[^>]*>(.*)<\/main>/s.exec(html)?.[1] ?? '')
    .replace(/<(?:svg|datalist|select|pre)\b.*?<\/(?:svg|datalist|select|pre)>/gs, ' ')
    .replace(/<\/(?:p|h\d|li|tr|dt|section|summary|label|legend|thead|nav)>/g, '\n')
    .replace(/<\/(?:td|th|a|button|dd)>/g, ' | ')
    .replace(/<[^>]*>/g, ' ')
    .replaceAll('&#39;', "'")
    .replaceAll('&quot;', '"')
    .replace(/\b(upd|ent)_[0-9a-z]+/g, '$1_…')
    .split('\n')
    .map((line) => line.replace(/\s+/g, ' ').replace(/^[ |]+|[ |]+$/g, ''))
    .filter(Boolean)
    .join('\n')

test('every page shows exactly the text of the reviewed catalogue', { timeout: 110_000 }, async () => {
  const { scenario, shutdown } = await openMonthWithTarget('2026-11-24T14:00:00Z', {
    DASHBOARD_URL: 'http://localhost',
  })
  try {
    await runMonth(scenario, () => {})
    const browser = openBrowser({ dashboard: createDashboard(scenario.services) })
    const { callerKey: key, clock, guard } = scenario
    const who = { key, sub: 'mira', scopes, budgets: '*' as const, now: clock.now(), lastsMs: 8 * 3600_000 }
    await browser.logIn(await signCallerToken(who))
    const places = await findPlaces(guard)
    const parts: string[] = [
      '# Pages of the demo month',
      'To update: npx vitest run --config test/vitest.config.ts catalogue -u',
    ]
    for (const [name, path] of [...pages, ...more.map((each) => [each, () => each] as const)])
      parts.push(`## ${name}`, readable((await browser.get(path(places))).html))
    const hint =
      'A page has changed. If that is meant, run `npx vitest run --config test/vitest.config.ts catalogue -u`.'
    await expect(`${parts.join('\n\n')}\n`, hint).toMatchFileSnapshot('pages.golden.txt')
  } finally {
    await shutdown.stop()
  }
})
