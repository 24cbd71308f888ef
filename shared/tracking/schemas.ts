import * as z from 'zod/mini'
import { countries, frequencies, languages, searchEngineTypes } from './enumerations.ts'

/**
 * The resources of the interface ("Resources and their fields"). Objects are loose: members that the interface does
 * not name pass. Defaults are filled in, for whoever reads a project; the gateway forwards the bytes it was given.
 */

const text = z.string('takes text')
const whole = z.number('takes a whole number').check(z.int('takes a whole number'))
const listOf = <Item extends z.ZodMiniType>(item: Item, takes: string) => z.array(item, takes)

const keyword = z.looseObject({ name: text }, 'takes an object with a name')

const searchEngineId = z.looseObject({ svc_id: whole }, 'takes an object with svc_id')

const country = z.enum(countries, 'takes a country code of the interface, such as US')

/** `name` is required although the interface states a default for it: only one of the two can be meant. */
const searchEngine = z.looseObject(
  {
    name: text,
    country: z._default(country, 'US'),
    location: z._default(text, 'San Francisco, CA'),
    language: z._default(z.enum(languages, 'takes a language code of the interface, such as en'), 'en'),
    se_type: z._default(
      z.enum(searchEngineTypes, 'takes a search engine type of the interface, such as desktop universal'),
      'desktop universal',
    ),
  },
  'takes an object with a name',
)

const colorTakes = 'takes a whole number from 0 to 255'
/** "Limits" of the interface. */
const color = z.optional(z.number(colorTakes).check(z.int(colorTakes), z.gte(0, colorTakes), z.lte(255, colorTakes)))

const website = z.looseObject(
  {
    name: text,
    aliases: z.optional(text),
    index: z.optional(whole),
    color_r: color,
    color_g: color,
    color_b: color,
    pages: z.optional(listOf(z.looseObject({}, 'takes an object'), 'takes a list of objects')),
  },
  'takes an object with a name',
)

const keywords = listOf(keyword, 'takes a list of keywords')
const searchEngines = listOf(searchEngine, 'takes a list of search engines')
const websites = listOf(website, 'takes a list of websites')

export const createProjectInput = z.looseObject(
  { keywords, searchengines: searchEngines, websites },
  'takes a JSON object with keywords, searchengines and websites',
)

/**
 * Nothing is required: the interface requires `keywords`, `searchengines` and `websites`, but defines no
 * `searchengines`, and its own example leaves it out. What the service enforces is for the service to say, so the types
 * of the four defined members are checked, and `searchengines` passes like any member that is not defined.
 */
export const updateProjectInput = z.looseObject(
  {
    keywords: z.optional(keywords),
    websites: z.optional(websites),
    addSearchengines: z.optional(searchEngines),
    removeSearchengines: z.optional(listOf(searchEngineId, 'takes a list of objects with svc_id')),
  },
  'takes a JSON object',
)

/** The query of project creation. No default: the interface states none for either. */
export const createProjectQuery = z.object({
  frequency: z.optional(z.enum(frequencies, `takes one of ${frequencies.join(', ')}`)),
  country: z.optional(country),
})

export type CreateProjectInput = z.output<typeof createProjectInput>
export type UpdateProjectInput = z.output<typeof updateProjectInput>
export type CreateProjectQuery = z.output<typeof createProjectQuery>
