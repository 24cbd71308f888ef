import { dayMs } from '../../shared/platform/clock.ts'
import type { CreateProjectInput } from '../../shared/tracking/projects.ts'
import { day, type Frequency, type ProjectInput } from './project.ts'

export const demonstrationProjects = (now: number): ProjectInput[] => [
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

type SearchEngine = CreateProjectInput['searchengines'][number]

const engine = (country: SearchEngine['country'], se_type: SearchEngine['se_type']): SearchEngine => ({
  name: 'example search',
  country,
  location: 'San Francisco, CA',
  language: 'en',
  se_type,
})
const desktop = (country: SearchEngine['country']) => engine(country, 'desktop universal')
const mobile = (country: SearchEngine['country']) => engine(country, 'mobile universal')

type ProjectSketch = {
  readonly name: string
  readonly website: string
  readonly keywords: number
  readonly engines: readonly SearchEngine[]
  readonly frequency?: Frequency
  readonly now: number
}

const competitors = [
  { name: 'www.field-shop.example' },
  { name: 'www.lantern-review.example', aliases: 'www.lantern-*.example' },
]

/** On-demand projects have data, because their last update was a week ago. */
function project({ name, website, keywords, engines, frequency = 'ondemand', now }: ProjectSketch): ProjectInput {
  return {
    name,
    frequency,
    country: engines[0]?.country ?? 'US',
    createdAt: now - 35 * dayMs,
    earlierDates: frequency === 'ondemand' ? [day(now - 35 * dayMs), day(now - 7 * dayMs)] : [],
    keywords: Array.from({ length: keywords }, (_, index) => ({ name: `${name} keyword ${index + 1}` })),
    searchengines: engines.map((each, index) => ({ ...each, svc_id: index + 1 })),
    websites: [{ name: website }, ...competitors],
    lastSvcId: engines.length,
  }
}
