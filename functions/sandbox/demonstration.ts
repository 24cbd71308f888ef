import { dayMs } from '../../shared/platform/clock.ts'
import type { CreateProjectInput } from '../../shared/tracking/projects.ts'
import { day, demonstrationFrequency, type Frequency, type Habits, type ProjectInput } from './project.ts'

type SearchEngine = CreateProjectInput['searchengines'][number]
type Sketch = readonly [name: string, website: string, keywords: number, countries: string, frequency?: Frequency]

/** A country in lower case gets a search engine on a phone. */
const sketches: readonly Sketch[] = [
  ['acme.example', 'www.acme.example', 40, 'US'],
  ['globex', 'www.globex.example', 160, 'US us DE FR'],
  ['initech', 'www.initech.example', 60, 'US UK'],
  ['café & co/paris', 'www.cafe.example', 12, 'FR'],
  ['daily.example', 'www.daily.example', 25, 'US', 'daily'],
]

const competitors = [
  { name: 'www.field-shop.example' },
  { name: 'www.lantern-review.example', aliases: 'www.lantern-*.example' },
]

/** On-demand projects have data, because their last update was a week ago. */
export const demonstrationProjects = (now: number, habits: Habits = 'usual'): ProjectInput[] =>
  sketches.map(([name, website, keywords, countries, frequency = demonstrationFrequency[habits]]) => {
    const searchengines = countries.split(' ').map((country, index) => ({ ...engine(country), svc_id: index + 1 }))
    return {
      name,
      frequency,
      country: searchengines[0]?.country ?? 'US',
      createdAt: now - 35 * dayMs,
      earlierDates: frequency === 'ondemand' ? [day(now - 35 * dayMs), day(now - 7 * dayMs)] : [],
      keywords: Array.from({ length: keywords }, (_, index) => ({ name: `${name} keyword ${index + 1}` })),
      searchengines,
      websites: [{ name: website }, ...competitors],
      lastSvcId: searchengines.length,
    }
  })

const engine = (country: string): SearchEngine => ({
  name: 'example search',
  country: country.toUpperCase() as SearchEngine['country'],
  location: 'San Francisco, CA',
  language: 'en',
  se_type: country === country.toUpperCase() ? 'desktop universal' : 'mobile universal',
})
