import { execFile } from 'node:child_process'
import { cp, mkdir, readFile, rm, symlink } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

export interface Image {
  /** The folder that is the image's root. */
  readonly root: string
  readonly env: Readonly<Record<string, string>>
  readonly folder: string
  readonly user: string
  readonly command: readonly string[]
  readonly health: readonly string[]
  /** The base of the image. */
  readonly base: string
}

type Stage = { -readonly [Name in keyof Image]: Image[Name] } & { entry: readonly string[] }

/**
 * Follows the Dockerfile without using Docker: each stage becomes a folder below `into` on this machine. It skips `npm ci`,
 * because the repository's node_modules came from the same lock file. @throws Error for an unknown instruction.
 */
export async function buildImage(dockerfile: string, into: string): Promise<Image> {
  const stages = new Map<string, Stage>()
  let stage: Stage | undefined
  for (const { name, text } of await instructionsOf(dockerfile)) {
    if (name === 'FROM') {
      const [base = '', , label = 'last'] = text.split(' ')
      stage = { base, root: join(into, label), env: {}, folder: '/', user: '', command: [], health: [], entry: [] }
      await mkdir(stage.root, { recursive: true })
      stages.set(label, stage)
      continue
    }
    if (!stage) throw new Error(`${name} before FROM`)
    if (name === 'COPY') await copy(text, { stage, stages, ignore: `${dockerfile}.dockerignore` })
    else if (name === 'RUN') await runStep(text, stage)
    else set(stage, name, text)
  }
  if (!stage) throw new Error(`${dockerfile} has no stage`)
  return { ...stage, command: [...stage.entry, ...stage.command] }
}

async function instructionsOf(dockerfile: string) {
  const lines = (await readFile(dockerfile, 'utf8')).split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return lines.map((line) => {
    const [name = ''] = line.split(' ')
    return { name, text: line.slice(name.length + 1) }
  })
}

function set(stage: Stage, name: string, text: string): void {
  switch (name) {
    case 'WORKDIR':
      stage.folder = text
      return
    case 'ENV':
      stage.env = { ...stage.env, ...Object.fromEntries(text.split(' ').map((each) => each.split('='))) }
      return
    case 'USER':
      stage.user = text
      return
    case 'ENTRYPOINT':
      stage.entry = JSON.parse(text)
      return
    case 'CMD':
      stage.command = JSON.parse(text)
      return
    case 'HEALTHCHECK':
      stage.health = JSON.parse(text.replace(/^CMD /, ''))
      return
    case 'VOLUME':
    case 'EXPOSE':
      return
    default:
      throw new Error(`${name} is not known here`)
  }
}

async function runStep(text: string, { root, folder }: Stage): Promise<void> {
  const cwd = join(root, folder)
  if (text === 'npm ci') return symlink(resolve('node_modules'), join(cwd, 'node_modules'))
  const { PATH, HOME, TMPDIR } = process.env
  await run('sh', ['-c', text], { cwd, env: { PATH, HOME, TMPDIR } })
}

/** Copies from another stage, or from the build context: the paths that `.dockerignore` lists with `!`. */
async function copy(
  text: string,
  { stage, stages, ignore }: { stage: Stage; stages: ReadonlyMap<string, Stage>; ignore: string },
): Promise<void> {
  const words = text.split(' ')
  const option = (name: string) => words.find((word) => word.startsWith(`--${name}=`))?.split('=')[1]
  const from = option('from')
  const [to = '', ...given] = words.filter((word) => !word.startsWith('--')).reverse()
  const target = join(stage.root, resolve(stage.folder, to))
  const lines = (await readFile(ignore, 'utf8')).split('\n')
  const context = lines.filter((line) => line.startsWith('!')).map((line) => line.slice(1))
  const names = from === undefined && given[0] === '.' ? context : given
  for (const name of names) {
    if (from === undefined && !context.includes(name)) throw new Error(`${name} is not in the build context`)
    const source = from === undefined ? resolve(name) : join(stages.get(from)?.root ?? '', name)
    await cp(source, from === undefined ? join(target, name) : target, { recursive: true })
  }
  const [mode, owner] = [option('chmod'), option('chown')]
  await mkdir(dirname(target), { recursive: true })
  if (mode !== undefined) await run('chmod', [mode, target])
  if (owner !== undefined && process.getuid?.() === 0) await run('chown', ['-R', owner, target])
}

export const removeImage = (into: string): Promise<void> => rm(into, { recursive: true, force: true })
