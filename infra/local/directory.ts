import { mkdir } from 'node:fs/promises'
import { CannotGoOn } from './failures.ts'

/** Makes a directory below DATA_DIR where it is missing. @throws CannotGoOn when there can be none. */
export async function makeDirectory(directory: string): Promise<void> {
  await mkdir(directory, { recursive: true }).catch((cause) => {
    throw new CannotGoOn(`the directory ${directory} cannot be made (${cause.code}); set DATA_DIR to another one`, {
      cause,
    })
  })
}
