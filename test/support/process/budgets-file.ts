import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { temporaryDirectory } from './local.ts'

export async function budgetsFiles() {
  const { directory, remove } = await temporaryDirectory()
  afterAll(remove)
  const fileOf = async (text: string, name = 'budgets.csv'): Promise<string> => {
    const file = join(directory, name)
    await writeFile(file, text)
    return file
  }
  return { directory, fileOf }
}

export const lines = (...of: string[]): string => `${of.join('\n')}\n`
