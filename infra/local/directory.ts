import { chmod, mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { CannotContinue } from './failures.ts'

/** Makes a directory below DATA_DIR, for this user alone, where it is missing. @throws CannotContinue when there can be none. */
export async function makeDirectory(directory: string): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 }).catch((cause) => {
    throw new CannotContinue(`the directory ${directory} cannot be made (${cause.code}); set DATA_DIR to another one`, {
      cause,
    })
  })
}

/** Makes a directory of our own as above, and takes what an earlier version left in it from other users. */
export async function makePrivateDirectory(directory: string): Promise<void> {
  await makeDirectory(directory)
  await chmod(directory, 0o700)
  const files = (await readdir(directory, { withFileTypes: true })).filter((entry) => entry.isFile())
  await Promise.all(files.map(({ name }) => chmod(join(directory, name), 0o600)))
}
