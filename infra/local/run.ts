import { runCommand, tellFailure, WrongUsage } from './commands/command.ts'
import { type CommandName, commands } from './commands/table.ts'
import { programs } from './programs.ts'

// A reader that leaves, such as `head`, must not end a command in the middle of its work.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
})

/** Commands of earlier versions, and what replaces them. */
const removed = new Map([['move', 'npm run restore -- --to <table>']])

async function run(typed: string, args: readonly string[]): Promise<number> {
  const instead = removed.get(typed)
  if (instead !== undefined)
    return tellFailure(new WrongUsage(`There is no command '${typed}'; use ${instead}`), commands.restore)
  const name = Object.hasOwn(programs, typed) ? (typed as CommandName) : 'help'
  return runCommand(commands[name], typed === '--version' ? [typed] : args, programs[name])
}

const [typed = 'help', ...args] = process.argv.slice(2)
const code = await run(typed, args)
process.stdout.write('', () => process.exit(code)) // A pipe takes 64 KiB at once: an earlier exit drops the rest.
