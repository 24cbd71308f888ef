import * as z from 'zod/mini'
import { fromUtf8, parseStrictJson } from '../platform/json.ts'
import { queryValues } from './operations.ts'

// biome-ignore format: ten to a row, as in the interface, so that the two can be compared by eye
export const countries = [
  'US', 'UK', 'DE', 'FR', 'IT', 'JP', 'RO', 'ES', 'GR', 'BE',
  'MT', 'NL', 'TH', 'AU', 'SE', 'SG', 'AR', 'IN', 'ID', 'CA',
  'BR', 'DK', 'MX', 'RU', 'KR', 'BH', 'CY', 'EG', 'AE', 'IL',
  'JO', 'KW', 'LB', 'OM', 'QA', 'SA', 'TR', 'AT', 'CH', 'HU',
  'NZ', 'CZ', 'PH', 'MY', 'IE', 'ZA', 'CO', 'DO', 'FI', 'RS',
  'ME', 'BA', 'HR', 'PL', 'PT', 'TW', 'PE', 'CL', 'VE', 'MA',
  'NO', 'SI', 'SK', 'LV', 'UA', 'PR', 'BO', 'CR', 'EE', 'LU',
  'LT', 'BG', 'GT', 'HN', 'NG', 'KE', 'UG', 'MU', 'GH', 'BD',
  'LK', 'VN', 'IS', 'EC', 'UY', 'KZ', 'LY', 'PK', 'CI', 'TZ',
  'CD', 'PA', 'ZM', 'MD', 'BY', 'SV', 'NI', 'PY', 'BW', 'ZW',
  'AO', 'MZ', 'CM', 'ET', 'AZ', 'KH', 'NP', 'RW', 'SN', 'TN',
  'MM', 'DZ', 'JM', 'GA', 'GE', 'PG', 'IM', 'BN', 'TG', 'BT',
  'BJ', 'BF', 'GM', 'BI', 'LA', 'GG', 'JE', 'MN', 'IQ', 'PS',
  'FJ', 'AF', 'ML', 'NE', 'MV', 'DJ', 'GP', 'AL', 'LS', 'AS',
  'FM', 'GL', 'LI', 'MS', 'MW', 'PN', 'SH', 'SM', 'UZ', 'TD',
  'VG', 'CV', 'VC', 'DM', 'MK', 'KG', 'TJ', 'TM', 'MG', 'NA',
  'SC', 'BS', 'BZ', 'GI', 'AM', 'AG', 'AD', 'CU', 'TT',
] as const

// biome-ignore format: ten to a row, as in the interface
export const languages = [
  'en', 'fr', 'de', 'es', 'ca', 'gl', 'eu', 'ar', 'ko', 'et',
  'ru', 'sw', 'da', 'fo', 'ja', 'pt', 'pl', 'vi', 'zh-TW', 'cs',
  'qu', 'it', 'hi', 'bn', 'te', 'mr', 'ta', 'gu', 'kn', 'ml',
  'pa', 'rm', 'iw', 'ga', 'id', 'uk', 'el', 'tr', 'bg', 'zh-CN',
  'no', 'nl', 'bs', 'sr', 'hr', 'ha', 'yo', 'th', 'af', 'st',
  'zu', 'xh', 'ur', 'fa', 'ak', 'sk', 'sl', 'sv', 'lv', 'lt',
  'fi', 'ro', 'hu', 'hy',
] as const

export const searchEngineTypes = [
  'desktop universal',
  'desktop organic',
  'desktop organic and places',
  'desktop places',
  'desktop adwords',
  'desktop images',
  'desktop video',
  'desktop maps',
  'desktop news',
  'desktop shopping',
  'desktop jobs',
  'mobile universal',
  'mobile organic',
  'mobile images',
  'mobile video',
  'mobile news',
] as const

export const frequencies = ['ondemand', 'daily', 'weekly'] as const

// Unknown members pass, because the gateway forwards the original bytes.

const text = z.string('must be a string')
const whole = z.number('must be a whole number').check(z.int('must be a whole number'))
const listOf = <Item extends z.ZodMiniType>(item: Item, message: string) => z.array(item, message)

const keyword = z.looseObject({ name: text }, 'must be an object with a name')

const searchEngineId = z.looseObject({ svc_id: whole }, 'must be an object with svc_id')

const country = z.enum(countries, 'must be a country code of the interface, such as US')

/** `name` is required, although the interface also states a default for it. */
const searchEngine = z.lazy(() =>
  z.looseObject(
    {
      name: text,
      country: z._default(country, 'US'),
      location: z._default(text, 'San Francisco, CA'),
      language: z._default(z.enum(languages, 'must be a language code of the interface, such as en'), 'en'),
      se_type: z._default(
        z.enum(searchEngineTypes, 'must be a search engine type of the interface, such as desktop universal'),
        'desktop universal',
      ),
    },
    'must be an object with a name',
  ),
)

const colorFault = 'must be a whole number from 0 to 255'
const color = z.optional(z.number(colorFault).check(z.int(colorFault), z.gte(0, colorFault), z.lte(255, colorFault)))

const website = z.lazy(() =>
  z.looseObject(
    {
      name: text,
      aliases: z.optional(text),
      index: z.optional(whole),
      color_r: color,
      color_g: color,
      color_b: color,
      pages: z.optional(listOf(z.looseObject({}, 'must be an object'), 'must be a list of objects')),
    },
    'must be an object with a name',
  ),
)

const keywords = listOf(keyword, 'must be a list of keywords')
const searchEngines = listOf(searchEngine, 'must be a list of search engines')
const websites = listOf(website, 'must be a list of websites')

export const createProjectInput = z.looseObject(
  { keywords, searchengines: searchEngines, websites },
  'must be a JSON object with keywords, searchengines and websites',
)

/** The interface requires members that its own example lacks, so only types are checked. */
export const updateProjectInput = z.looseObject(
  {
    keywords: z.optional(keywords),
    websites: z.optional(websites),
    addSearchengines: z.optional(searchEngines),
    removeSearchengines: z.optional(listOf(searchEngineId, 'must be a list of objects with svc_id')),
  },
  'must be a JSON object',
)

export const createProjectQuery = z.object({
  frequency: z.optional(z.enum(frequencies, `must be one of ${frequencies.join(', ')}`)),
  country: z.optional(country),
})

export type CreateProjectInput = z.output<typeof createProjectInput>
export type UpdateProjectInput = z.output<typeof updateProjectInput>
export type CreateProjectQuery = z.output<typeof createProjectQuery>

/** `path` is like `keywords.0.name`. Empty: the whole body. */
interface Fault {
  readonly path: string
  readonly message: string
}

export type CheckResult<T> =
  | { readonly ok: true; readonly value: T }
  /** The messages quote nothing of the request. */
  | { readonly ok: false; readonly faults: readonly Fault[] }

export const checkCreateProject = (body: Uint8Array): CheckResult<CreateProjectInput> =>
  checkBody(createProjectInput, body)

export const checkUpdateProject = (body: Uint8Array): CheckResult<UpdateProjectInput> =>
  checkBody(updateProjectInput, body)

/** Refuses a repeated parameter, because the service may take the other value. */
export function checkCreateQuery(search: string): CheckResult<CreateProjectQuery> {
  const names = Object.keys(createProjectQuery.shape)
  const given = names.map((name) => ({ name, values: queryValues(search, name) }))
  const repeated = given.filter(({ values }) => values.length > 1)
  const faults = repeated.map(({ name }) => ({ path: name, message: 'was given more than once' }))
  const single = given.filter(({ values }) => values.length === 1)
  return check(createProjectQuery, Object.fromEntries(single.map(({ name, values }) => [name, values[0]])), faults)
}

/** Strict, so that the service reads the bytes in the same way. */
function checkBody<Schema extends z.ZodMiniType>(schema: Schema, body: Uint8Array): CheckResult<z.output<Schema>> {
  const decoded = fromUtf8(body, { keepsByteOrderMark: true })
  if (decoded === null) return wrong('the body is not UTF-8')
  const json = parseStrictJson(decoded)
  if (!json.ok) return wrong(`the body is not valid, unambiguous JSON (${json.reason})`)
  return check(schema, json.value, [])
}

function check<Schema extends z.ZodMiniType>(
  schema: Schema,
  value: unknown,
  faults: readonly Fault[],
): CheckResult<z.output<Schema>> {
  const parsed = schema.safeParse(value)
  if (parsed.success) return faults.length === 0 ? { ok: true, value: parsed.data } : { ok: false, faults }
  const more = parsed.error.issues.map(({ path, message }) => ({ path: path.map(String).join('.'), message }))
  return { ok: false, faults: [...faults, ...more] }
}

const wrong = (message: string) => ({ ok: false, faults: [{ path: '', message }] }) as const
