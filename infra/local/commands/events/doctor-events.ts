import { lookup } from 'node:dns/promises'
import { isPublicAddress } from '../../../../shared/events/addresses.ts'
import { placeOf } from '../../../../shared/events/for-people.ts'
import { readSigningKeys } from '../../../../shared/events/signature.ts'
import { readTargets, type Target } from '../../../../shared/events/targets-file.ts'
import type { GuardSettings } from '../../../../shared/guard/options.ts'
import { list } from '../../../../shared/guard/sentences.ts'
import { isLoopback } from '../../../../shared/platform/http.ts'
import { reasonOf } from '../../failures.ts'
import { readSecret } from '../../secrets.ts'
import { type Findings, found, joined } from '../findings.ts'

/** All addresses of a name. */
type Resolve = (hostname: string) => Promise<readonly { readonly address: string }[]>

const systemResolve: Resolve = (hostname) => lookup(hostname, { all: true })

/** Sends nothing. @throws WrongFile */
export async function examineEvents(settings: GuardSettings, resolve: Resolve = systemResolve): Promise<Findings> {
  const isLocal = settings.SECRETS_ENDPOINT !== undefined
  const each = readTargets(settings).map(async (target): Promise<Findings> => {
    const line = `${target.name}: ${placeOf(target)} gets ${list(target.types)}`
    return found(line, [
      ...(await addressFaults(target, { isLocal, resolve })),
      ...(await secretFaults(target, settings)),
    ])
  })
  return joined(await Promise.all(each))
}

async function addressFaults(
  { name, url }: Target,
  { isLocal, resolve }: { isLocal: boolean; resolve: Resolve },
): Promise<readonly string[]> {
  const { protocol, hostname } = new URL(url)
  if (isLoopback(hostname))
    return isLocal ? [] : [`give the target ${name} an https address that others reach: ${hostname} is this machine`]
  if (protocol !== 'https:') return [`give the target ${name} an https address`]
  const host = hostname.replace(/^\[|\]$/g, '')
  const addresses = await resolve(host).catch((error: unknown) => reasonOf(error))
  if (typeof addresses === 'string')
    return [`correct the address of the target ${name}: ${host} cannot be resolved (${addresses})`]
  const others = addresses.map(({ address }) => address).filter((address) => !isPublicAddress(address))
  return others.length === 0
    ? []
    : [`give the target ${name} a public address: ${host} leads to ${list(others)}, where nothing is sent`]
}

async function secretFaults({ name, secret: id }: Target, settings: GuardSettings): Promise<readonly string[]> {
  try {
    const current = await readSecret(id, settings)
    const read = async () => ({ current, previous: null })
    await readSigningKeys({ read, reread: read }, id)
    return []
  } catch (error) {
    return [`store the secret of the target ${name}, without which nothing is sent to it: ${reasonOf(error)}`]
  }
}
