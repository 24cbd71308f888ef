import type { Actors, CallerScopes } from './actors.ts'

/** Who is in the month, and what there is at its beginning. None of them exists. */

export const callerScopes: CallerScopes = {
  'local-admin': ['read', 'run', 'write', 'approve', 'admin'],
  mira: ['read', 'run', 'write', 'approve', 'admin'],
  dora: ['read', 'run'],
  tomas: ['read', 'run'],
  ines: ['read', 'run'],
  'report-tool': ['read', 'run'],
  'reporting-agent': ['read', 'propose'],
}

const budget = (month: number, more: object = {}) => ({ limits: [{ window: 'month', units: month }], ...more })
const owns = (...projects: (string | readonly [name: string, id: string])[]) => ({
  projects: projects.map((each) => (typeof each === 'string' ? { name: each } : { name: each[0], id: each[1] })),
})

/** Two teams and their clients or shops, a team that looks things up, and a trial that was left behind. */
const budgets = {
  clients: budget(30_000),
  globex: {
    parent: 'clients',
    limits: [
      { window: 'month', units: 17_000 },
      { window: 'day', units: 1_400 },
    ],
    approvalAbove: 700,
    ...owns(['globex', '1002']),
  },
  initech: { parent: 'clients', ...budget(3_600, owns(['initech', '1003'])) },
  'lakeside-hotels': {
    parent: 'clients',
    ...budget(2_500, { approvalAbove: 150, ...owns('lakeside-hotels.example', 'lakeside-spa.example') }),
  },
  'harbour-bikes': { parent: 'clients', ...budget(700, owns('harbour-bikes.example')) },
  shop: budget(6_000, owns(['acme.example', '1001'], 'café & co/paris', 'daily.example', 'fernway-garden.example')),
  research: budget(3_000, { approvalAbove: 250, ...owns('juniper-travel.example') }),
  press: budget(100, owns('opal-press.example')),
  trial: budget(500, { kinds: ['ranking'], ...owns('willow-books.example') }),
}

const callers = {
  'reporting-agent': {
    scopes: ['read', 'propose'],
    budgets: ['research'],
    limits: [{ window: 'day', units: 600 }],
    reason: 'asks for what its reports lack; a person decides',
  },
  'slack:U02DORA': { scopes: ['read', 'run'], budgets: ['clients'], person: 'dora', reason: 'the clients team' },
  'slack:U03INES': { scopes: ['read', 'run'], budgets: ['research'], person: 'ines', reason: 'research' },
}

/** A ranking update costs keywords × search engines. */
const projects = [
  { name: 'lakeside-hotels.example', keywords: 45, countries: ['US', 'UK', 'DE', 'FR'] },
  { name: 'lakeside-spa.example', keywords: 24, countries: ['US', 'DE'] },
  { name: 'harbour-bikes.example', keywords: 70, countries: ['US', 'CA'] },
  { name: 'fernway-garden.example', keywords: 90, countries: ['UK'] },
  { name: 'opal-press.example', keywords: 90, countries: ['US', 'UK'] },
  { name: 'willow-books.example', keywords: 60, countries: ['US'] },
  { name: 'juniper-travel.example', keywords: 150, countries: ['US', 'UK'] },
]

export async function setUp({ call }: Actors): Promise<void> {
  for (const [name, body] of Object.entries(budgets)) {
    await call('local-admin', 'PUT', `/budgets/${name}`, { reason: 'budgets of this year', ...body })
  }
  for (const [sub, body] of Object.entries(callers)) await call('mira', 'PUT', `/callers/${sub}`, body)
  for (const { name, keywords, countries } of projects) {
    await call('mira', 'POST', `/v3/projects/${name}/create?frequency=ondemand&country=${countries[0]}`, {
      keywords: Array.from({ length: keywords }, (_, index) => ({ name: `${name.split('.')[0]} ${index + 1}` })),
      searchengines: countries.map((country) => ({ name: 'example search', country })),
      websites: [{ name: `www.${name}` }],
    })
  }
}
