import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Context, makeContext } from './context.js'
import { notYet } from './errors/usage.js'
import { exit, exitCodeOf, jsonOf, messageOf } from './exit.js'
import { loaders } from './loaders.js'
import { Options } from './options.js'
import { ClosedPipe } from './output.js'
import { type Asked, parse } from './parse.js'
import { safeJson, safeName } from './safe-text.js'

/**
 * The entry of the command line: decides the command, and only then loads its code. What this file imports is paid for
 * at every start, so it is little.
 */
const main = async (argv: readonly string[]): Promise<number> => {
  try {
    return await obey(asked(argv))
  } catch (error) {
    if (error instanceof ClosedPipe) return exit.done
    complain(error, argv)
    return exitCodeOf(error)
  }
}

const asked = (argv: readonly string[]): Asked => {
  if (argv.length === 0 && process.stdin.isTTY && process.stdout.isTTY) throw notYet('the shell')
  return parse(argv, argv.includes('--version') ? version() : '')
}

const obey = async (asked: Asked): Promise<number> => {
  if (asked.kind === 'text') {
    process.stdout.on('error', () => process.exit(exit.done))
    process.stdout.write(asked.text)
    return exit.done
  }
  const { command, args, options, globals } = asked
  const load = loaders[command.name]
  if (load === undefined) throw notYet(`the command ${command.name}`)
  const loading = load()
  const context = await makeContext(globals, process, packageFolder, command.withoutConfig)
  const { run } = await loading
  try {
    return (await run(context, args, new Options(options))) ?? exit.done
  } finally {
    await leave(context)
  }
}

const leave = async (context: Context): Promise<void> => {
  await Promise.all([context.out.flush(), context.err.flush()])
  await context.close()
}

/** One line for people and, with --json, one for programs. */
const complain = (error: unknown, argv: readonly string[]): void => {
  const ended = argv.indexOf('--')
  const given = new Set(ended < 0 ? argv : argv.slice(0, ended))
  process.stderr.on('error', () => {})
  process.stderr.write(`coppice: ${safeName(messageOf(error))}\n`)
  if (given.has('--json')) process.stderr.write(`${safeJson(JSON.stringify(jsonOf(error)))}\n`)
  if (given.has('--debug')) process.stderr.write(`${traceOf(error)}\n`)
}

const traceOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  const { stack = error.message, cause } = error
  return cause === undefined ? stack : `${stack}\ncaused by ${traceOf(cause)}`
}

/** This file is bundled into dist/cli/coppice.js. */
const packageFolder = fileURLToPath(new URL('../..', import.meta.url))

const version = (): string => {
  const text = readFileSync(join(packageFolder, 'package.json'), 'utf8')
  return (JSON.parse(text) as { version: string }).version
}

process.on('uncaughtException', (error) => {
  complain(error, process.argv.slice(2))
  process.exit(exitCodeOf(error))
})
process.once('SIGINT', () => process.exit(exit.interrupted))
process.exit(await main(process.argv.slice(2)))
