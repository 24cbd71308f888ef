import * as z from 'zod/mini'

const text = (takes: string) => z.string(takes).check(z.minLength(1, takes))
const optionalText = z.optional(z.string('takes text'))
const listOf = <Item extends z.ZodMiniType>(item: Item, takes: string) => z.array(item, takes)

const colorTakes = 'takes a whole number from 0 to 255'
/** "Limits" of the interface. */
const color = z.optional(z.number(colorTakes).check(z.int(colorTakes), z.gte(0, colorTakes), z.lte(255, colorTakes)))

const keyword = z.object({ name: text('takes the keyword to track') }, 'takes an object with a name')

const searchEngine = z.object(
  {
    name: text('takes the name of a search engine'),
    country: optionalText,
    location: z._default(z.string('takes text'), 'San Francisco, CA'),
    language: z._default(z.string('takes text'), 'en'),
    se_type: z._default(z.string('takes text'), 'desktop universal'),
  },
  'takes an object with a name',
)

const website = z.object(
  {
    name: text('takes a domain name'),
    aliases: optionalText,
    index: z.optional(z.number('takes a whole number').check(z.int('takes a whole number'))),
    color_r: color,
    color_g: color,
    color_b: color,
    pages: z.optional(z.array(z.looseObject({}, 'takes an object'), 'takes a list of objects')),
  },
  'takes an object with a name',
)

const body = z.object(
  {
    keywords: listOf(keyword, 'takes a list of keywords'),
    searchengines: listOf(searchEngine, 'takes a list of search engines'),
    websites: listOf(website, 'takes a list of websites'),
  },
  'takes a JSON object with keywords, searchengines and websites',
)

/**
 * CreateProjectInput of the interface, its defaults applied. A search engine's country defaults to `country`: the
 * interface does not say what its query parameter is for, and this is the reading that gives it a use.
 * `svc_id` is what SearchEngineID refers to.
 */
export const createProjectInput = (country: string) =>
  z.pipe(
    body,
    z.transform((input) => ({
      ...input,
      searchengines: input.searchengines.map((engine, index) => ({
        ...engine,
        country: engine.country ?? country,
        svc_id: index + 1,
      })),
    })),
  )

export type CreateProjectInput = z.output<ReturnType<typeof createProjectInput>>
