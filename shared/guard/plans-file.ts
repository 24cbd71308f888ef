import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { fromUtf8 } from '../platform/utf8.ts'
import { type Plan, parsePlans, WrongPlans } from './plan.ts'

/**
 * The plans of one file; none without a file.
 *
 * @throws WrongPlans also when it is not there or cannot be read. Messages have its base name alone: where a machine
 * keeps it is nobody else's business.
 */
export function readPlans(path: string | undefined): readonly Plan[] {
  if (path === undefined) return []
  const file = basename(path)
  const text = fromUtf8(read(path, file))
  if (text === null) throw new WrongPlans(`the plans file ${file} is not UTF-8`)
  try {
    return parsePlans(text)
  } catch (error) {
    throw error instanceof WrongPlans ? new WrongPlans(`${file}: ${error.message}`) : error
  }
}

function read(path: string, file: string): Uint8Array {
  try {
    return readFileSync(path)
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT'
    throw new WrongPlans(`the plans file ${file} ${isMissing ? 'is not there' : 'cannot be read'}`, { cause: error })
  }
}
