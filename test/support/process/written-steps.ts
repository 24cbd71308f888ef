import { readFile } from 'node:fs/promises'

/** The code blocks of a section of a page, in order. */
export async function blocksOf(page: string, heading: string, language = 'sh'): Promise<string[]> {
  const text = await readFile(page, 'utf8')
  const [, section = ''] = new RegExp(`^## ${heading}\\n(.*?)^## `, 'ms').exec(text) ?? []
  return [...section.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'gms'))].map(([, block = '']) => block)
}
