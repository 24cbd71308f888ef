import { runCommand } from './commands/command.ts'
import { type CommandName, commands } from './commands/table.ts'
import { programs } from './programs.ts'

// A reader that leaves, such as `head`, must not end a command in the middle of its work.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
})

const [typed = 'help', ...args] = process.argv.slice(2)
const name = Object.hasOwn(programs, typed) ? (typed as CommandName) : 'help'
const code = await runCommand(commands[name], typed === '--version' ? [typed] : args, programs[name])
process.stdout.write('', () => process.exit(code)) // A pipe takes 64 KiB at once: an earlier exit drops the rest.
