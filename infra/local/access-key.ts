import { randomBytes } from 'node:crypto'
import { readdir, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { CannotGoOn } from './failures.ts'

const keyBytes = 20
/** DynamoDB Local keeps the tables of each access key and region in a file of its own. */
const ownFile = /^([0-9a-f]{40})_local\.db$/
const fileOf = (key: string): string => `${key}_local.db`
/** Where every version before had them, whatever the access key. */
const sharedFile = 'shared-local-instance.db'

export const newAccessKey = (): string => randomBytes(keyBytes).toString('hex')

/**
 * The access key that opens the ledger in a directory of DynamoDB Local: a secret, since any user of this machine may
 * connect to the database. The directory must not be in use.
 *
 * @param directory `null` keeps nothing: the key is new each time.
 * @throws CannotGoOn where it is not clear which ledger is meant.
 */
export async function readAccessKey(directory: string | null): Promise<string> {
  if (directory === null) return newAccessKey()
  const files = await readdir(directory)
  const own = files.filter((file) => ownFile.test(file))
  const ledgers = [...own, ...files.filter((file) => file === sharedFile)]
  if (ledgers.length > 1) {
    throw new CannotGoOn(`${directory} holds several ledgers: ${ledgers.join(', ')}; move away all but the one to use`)
  }
  const [, key = newAccessKey()] = ownFile.exec(own[0] ?? '') ?? []
  // A journal that a crash left belongs to its file, so it is moved first.
  for (const file of files
    .filter((name) => name.startsWith(sharedFile))
    .sort()
    .reverse()) {
    await rename(join(directory, file), join(directory, file.replace(sharedFile, fileOf(key))))
  }
  return key
}
