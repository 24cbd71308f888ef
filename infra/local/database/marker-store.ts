import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { GetParameterCommand, ParameterNotFound, PutParameterCommand, SSMClient } from '@aws-sdk/client-ssm'
import { ledgerParameterOf } from '../../../shared/platform/prefix.ts'
import { type Marker, parseMarker, toMarkerText } from '../../../shared/platform/settings.ts'
import { makeDirectory, writePrivateFile } from '../data-directory.ts'
import { CannotContinue, reasonOf } from '../failures.ts'
import { ledgerFile } from '../settings.ts'

export interface MarkerStore {
  read(): Promise<Marker | null>
  write(marker: Marker): Promise<void>
}

export function fileMarker(directory: string): MarkerStore {
  const file = join(directory, 'ledger')
  return {
    read: async () => parsed(await readFile(file, 'utf8').catch(() => null), file, unreadable),
    write: async (marker) => {
      await makeDirectory(directory)
      await writePrivateFile(file, `${toMarkerText(marker)}\n`)
    },
  }
}

/** Replaces the table's id until the move is complete. */
export const moving = 'moving'

/** @throws CannotContinue for a folder whose ledger is in a table of DynamoDB. */
export async function mustNotHaveMoved(directory: string): Promise<void> {
  const { table, tableName } = (await fileMarker(directory).read()) ?? {}
  if (tableName === undefined || tableName === ledgerFile) return
  throw new CannotContinue(
    table === moving
      ? `the ledger of ${directory} is moving into the table ${tableName}: finish the move with npm run restore -- --to ${tableName}`
      : `the ledger of ${directory} has moved into the table ${tableName}: use that table, or set DATA_DIR to another folder`,
  )
}

/** A parameter of the Systems Manager, which survives its stack. */
export function parameterMarker(prefix: string): MarkerStore {
  const name = ledgerParameterOf(prefix)
  const client = new SSMClient({})
  const where = `the parameter ${name}`
  return {
    read: async () => {
      try {
        const { Parameter } = await client.send(new GetParameterCommand({ Name: name }))
        return parsed(Parameter?.Value ?? null, where, '; see docs/deploy.md, "Restoring"')
      } catch (error) {
        if (error instanceof ParameterNotFound) return null
        throw error instanceof CannotContinue
          ? error
          : new CannotContinue(`${where} cannot be read: ${reasonOf(error)}`)
      }
    },
    write: async (marker) => {
      const put = { Name: name, Value: toMarkerText(marker), Type: 'String', Overwrite: true } as const
      await client.send(new PutParameterCommand(put)).catch((error) => {
        throw new CannotContinue(`${where} cannot be written: ${reasonOf(error)}`)
      })
    },
  }
}

const unreadable = ': remove it, and the next start writes it again, unless the ledger beside it is a copy'

function parsed(text: string | null, where: string, remedy: string): Marker | null {
  const marker = text === null ? null : parseMarker(text)
  if (marker === undefined) throw new CannotContinue(`${where} does not name a ledger${remedy}`)
  return marker
}
