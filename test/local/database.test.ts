import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { chmod, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { ListTablesCommand } from '@aws-sdk/client-dynamodb'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { readEnvFile } from '../../infra/local/data-directory.ts'
import { readAccessKey } from '../../infra/local/database/dynamodb.ts'
import { createDynamoClient } from '../../shared/ledger/store/dynamo-store.ts'
import { hasJava, spawnLocal, temporaryDirectory } from '../support/process/local.ts'

/** Resolves to whether something answers there. */
const accepts = (host: string, port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect({ host, port, timeout: 2_000 })
    const end = (isOpen: boolean) => {
      socket.destroy()
      resolve(isOpen)
    }
    socket.on('connect', () => end(true))
    socket.on('error', () => end(false)).on('timeout', () => end(false))
  })

/** `127.0.0.2` stands for the others on a machine without a network: only a socket for every address takes it. */
const otherAddresses = () => [
  '127.0.0.2',
  ...Object.values(networkInterfaces()).flatMap((addresses) =>
    (addresses ?? []).filter(({ internal, scopeid }) => !internal && !scopeid).map(({ address }) => address),
  ),
]

test('LoopbackDynamoDb.class is compiled from its source', async () => {
  const digest = async (file: string) =>
    createHash('sha256')
      .update(await readFile(join('infra/local/database', file)))
      .digest('hex')
      .slice(0, 16)
  // Compile again as the source says, then write down both.
  expect([await digest('LoopbackDynamoDb.java'), await digest('LoopbackDynamoDb.class')]).toEqual([
    'e2211962e5400fbe',
    '31039f78638bbfe8',
  ])
})

describe.skipIf(!hasJava())('the database of npm start', async () => {
  const { directory, remove } = await temporaryDirectory()
  const data = join(directory, 'data')
  const seen = join(directory, 'environment')
  let env: ReturnType<typeof readEnvFile>
  let stop: (() => Promise<void>) | undefined

  beforeAll(async () => {
    const bin = join(directory, 'bin')
    await mkdir(bin)
    // The real Java, which first notes what it can read of its environment.
    await writeFile(join(bin, 'java'), `#!/bin/sh\nenv > '${seen}'\nPATH="\${PATH#*:}" exec java "$@"\n`)
    await chmod(join(bin, 'java'), 0o755)
    await mkdir(join(data, 'dynamodb'), { recursive: true, mode: 0o755 })
    await writeFile(join(data, 'guard.log'), '', { mode: 0o644 })
    const local = spawnLocal('start', {
      env: {
        PATH: `${bin}:${process.env.PATH}`,
        DATA_DIR: data,
        TRACKING_TOKEN: 'canary-of-the-service',
        SLACK_SIGNING_SECRET: 'canary-of-slack',
        SLACK_WEBHOOK_URL: 'http://127.0.0.1:9/canary',
        AWS_SECRET_ACCESS_KEY: 'canary-of-aws',
      },
    })
    stop = async () => {
      local.signalGroup('SIGTERM')
      await local.ended
    }
    await local.ready()
    env = readEnvFile(data)
  })
  afterAll(async () => {
    await stop?.()
    await remove()
  })

  test('the local database listens on the loopback interface only', async () => {
    const port = Number(new URL(env.DYNAMODB_ENDPOINT ?? '').port)
    expect(await accepts('127.0.0.1', port)).toBe(true)
    const open = await Promise.all(otherAddresses().map(async (host) => [host, await accepts(host, port)]))
    expect(open).toEqual(otherAddresses().map((host) => [host, false]))
  })

  test('the local database shows its tables to no other access key', async () => {
    const tables = async (accessKey?: string) => {
      const client = createDynamoClient(env.DYNAMODB_ENDPOINT, accessKey)
      onTestFinished(() => client.destroy())
      return (await client.send(new ListTablesCommand({}))).TableNames
    }
    expect(env.DYNAMODB_ACCESS_KEY).toMatch(/^[0-9a-f]{40}$/)
    expect(await tables(env.DYNAMODB_ACCESS_KEY)).toEqual(['unit-guard', 'unit-guard-sandbox'])
    expect(await tables('local')).toEqual([])
    expect(await tables('0'.repeat(40))).toEqual([])
  })

  test('the local database gets only the variables that Java needs', async () => {
    const text = await readFile(seen, 'utf8')
    const names = [...text.matchAll(/^(\w+)=/gm)].map(([, name]) => name)
    const shell = ['PWD', 'OLDPWD', 'SHLVL', '_']
    expect(names.filter((name) => !shell.includes(name ?? '')).sort()).toEqual(['JAVA_TOOL_OPTIONS', 'PATH'])
    expect(text).not.toContain('canary')
  })

  test('the files of the local database are for this user only', async () => {
    const files = await readdir(data, { recursive: true })
    expect(files.some((file) => file.endsWith('.db'))).toBe(true)
    expect(existsSync(join(data, 'guard.log'))).toBe(true)
    const open = []
    for (const file of files) {
      const { mode } = await stat(join(data, file))
      if ((mode & 0o077) !== 0) open.push(`${file} ${(mode & 0o777).toString(8)}`)
    }
    expect(open).toEqual([])
  })
})

describe.skipIf(!hasJava())('the access key of a directory', async () => {
  const { directory, remove } = await temporaryDirectory()
  afterAll(remove)

  test('refuses a directory with several ledgers', async () => {
    const data = join(directory, 'several')
    await mkdir(data)
    const [own, other] = ['a', 'b'].map((letter) => `${letter.repeat(40)}_local.db`) as [string, string]
    for (const name of ['local_local.db', own, other]) await writeFile(join(data, name), '')
    await expect(readAccessKey(data)).rejects.toThrow(
      `${data} holds several ledgers: ${own}, ${other}; move away all but the one to use`,
    )
    await rm(join(data, other))
    expect(await readAccessKey(data)).toBe('a'.repeat(40))
  })
})
