import { problem } from '../guard/problems.ts'
import { readWhole } from '../platform/raw-request.ts'
import { invalid, Refusal } from './refusal.ts'

const maxBodyBytes = 256 * 1024

/** The bytes of a body, whatever they are. @throws Refusal 400 where the upload was cut, or 413 */
export async function readBytes(c: Parameters<typeof readWhole>[0]): Promise<Uint8Array> {
  const bytes = await readWhole(c, maxBodyBytes)
  if (bytes === 'too-large') throw new Refusal(problem('too-large', `A body has at most ${maxBodyBytes / 1024} KiB.`))
  if (bytes === 'cut') throw invalid([{ path: '', message: 'the body did not come whole' }])
  return bytes
}
