import { day, dayMs, type Frequency, type Project } from './project.ts'

/** The projects that a new sandbox begins with, so that there is something to estimate and to run at once. */
export const demonstrationProjects = (now: number): Omit<Project, 'id'>[] => [
  project({ name: 'acme.example', website: 'www.acme.example', keywords: 40, engines: [desktop('US')], now }),
  project({
    name: 'globex',
    website: 'www.globex.example',
    keywords: 160,
    engines: [desktop('US'), mobile('US'), desktop('DE'), desktop('FR')],
    now,
  }),
  project({
    name: 'initech',
    website: 'www.initech.example',
    keywords: 60,
    engines: [desktop('US'), desktop('UK')],
    now,
  }),
  project({ name: 'café & co/paris', website: 'www.cafe.example', keywords: 12, engines: [desktop('FR')], now }),
  project({
    name: 'daily.example',
    website: 'www.daily.example',
    keywords: 25,
    engines: [desktop('US')],
    frequency: 'daily',
    now,
  }),
]

type Engine = Project['searchengines'][number]

const engine = (country: string, se_type: string): Omit<Engine, 'svc_id'> => ({
  name: 'example search',
  country,
  location: 'San Francisco, CA',
  language: 'en',
  se_type,
})
const desktop = (country: string) => engine(country, 'desktop universal')
const mobile = (country: string) => engine(country, 'mobile universal')

type Sketch = {
  readonly name: string
  readonly website: string
  readonly keywords: number
  readonly engines: readonly Omit<Engine, 'svc_id'>[]
  readonly frequency?: Frequency
  readonly now: number
}

/** Old enough to have data: an on-demand project was last updated a week ago, so an update today is worth its units. */
function project({ name, website, keywords, engines, frequency = 'ondemand', now }: Sketch): Omit<Project, 'id'> {
  return {
    name,
    frequency,
    country: engines[0]?.country ?? 'US',
    createdAt: now - 35 * dayMs,
    earlierDates: frequency === 'ondemand' ? [day(now - 35 * dayMs), day(now - 7 * dayMs)] : [],
    keywords: Array.from({ length: keywords }, (_, index) => ({ name: `${name} keyword ${index + 1}` })),
    searchengines: engines.map((each, index) => ({ ...each, svc_id: index + 1 })),
    websites: [{ name: website }],
  }
}
