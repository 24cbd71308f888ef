import { type Answer, json, type Recorded } from '../support/scripted-service.ts'

/** The service of an agency. It counts each run that took effect, whatever it answered. */
export function createVendor(costs: Readonly<Record<string, number>>, today: () => string) {
  const dates = new Map<string, Set<string>>()
  const counted = new Map<string, number>()
  const add = (units: number) => counted.set(month(), (counted.get(month()) ?? 0) + units)
  const month = () => today().slice(0, 7)
  let lost: { readonly runs: boolean } | null = null

  function run(project: string): Answer {
    const units = costs[project] ?? 40
    const isLost = lost
    lost = null
    if (isLost === null || isLost.runs) {
      add(units)
      dates.set(project, (dates.get(project) ?? new Set()).add(today()))
    }
    return isLost
      ? json({ trouble: 'behind the proxy' }, 502)
      : json({ response_code: 0, data: { keyword_units: units } })
  }

  return {
    answer({ url }: Recorded): Answer | undefined {
      const [, , , segment = '', operation] = new URL(url, 'http://x').pathname.split('/')
      const project = decodeURIComponent(segment)
      if (operation === 'run') return run(project)
      if (operation === 'estimate') return json({ response_code: 0, data: { keyword_units: costs[project] ?? 40 } })
      if (operation === 'dates')
        return json({ response_code: 0, dates: ['2026-10-01', ...(dates.get(project) ?? [])].toSorted() })
      return undefined
    },
    /** The next run is answered with 502, and takes effect or does not. */
    loseNext: (runs: boolean) => {
      lost = { runs }
    },
    loseNoMore: () => {
      lost = null
    },
    spendOutside: add,
    /** The units of this month. */
    counted: () => counted.get(month()) ?? 0,
  }
}
