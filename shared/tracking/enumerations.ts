/** The enumerated values of the interface ("SearchEngine"), row by row as it lists them. */

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

/** How often the service updates a project on its own ("States and transitions" of the interface). */
export const frequencies = ['ondemand', 'daily', 'weekly'] as const
