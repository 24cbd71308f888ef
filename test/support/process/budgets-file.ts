import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, onTestFinished } from 'vitest'
import { createListener } from '../../../infra/local/listener.ts'
import { startProduct } from '../product.ts'
import { createMemoryStore } from '../store/memory-store.ts'
import { runHere } from './here.ts'
import { temporaryDirectory } from './local.ts'

export async function budgetsFiles() {
  const { directory, remove } = await temporaryDirectory()
  afterAll(remove)
  const fileOf = async (text: string, name = 'budgets.csv'): Promise<string> => {
    const file = join(directory, name)
    await writeFile(file, text)
    return file
  }
  /** A listening guard for commands that use HTTP. @param listed the projects of the service; by default the service does not list any. */
  async function listening(listed?: readonly object[]) {
    const product = await startProduct({
      store: createMemoryStore(),
      service: ({ url }) =>
        url.endsWith('/projects')
          ? listed
            ? { body: JSON.stringify({ projects: listed }) }
            : { status: 404 }
          : undefined,
    })
    const listener = await createListener({ port: 0 })
    onTestFinished(() => listener.close(Promise.resolve()))
    listener.open(product.api)
    const token = await product.signed({ sub: 'ada', scope: 'read admin' })
    const env = { UNIT_GUARD_URL: listener.url, UNIT_GUARD_TOKEN: token, DATA_DIR: directory }
    const run = (...args: string[]) => runHere('budgets', args, env)
    return { product, env, token, url: listener.url, run }
  }

  return { fileOf, listening }
}

export const lines = (...of: string[]): string => `${of.join('\n')}\n`
