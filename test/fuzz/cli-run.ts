import { Readable, Writable } from 'node:stream'
import { makeContext } from '../../src/cli/context.js'
import { notYet } from '../../src/cli/errors/usage.js'
import { exitCodeOf, jsonOf, messageOf } from '../../src/cli/exit.js'
import { loaders } from '../../src/cli/loaders.js'
import { Options } from '../../src/cli/options.js'
import { parse } from '../../src/cli/parse.js'
import { safeName } from '../../src/cli/safe-text.js'

export interface Ended {
  readonly code: number
  readonly out: string
  readonly err: string
}

const collecting = (): { readonly stream: Writable; readonly text: () => string } => {
  const chunks: Buffer[] = []
  const stream = new Writable({
    write: (chunk, _encoding, done) => {
      chunks.push(Buffer.from(chunk))
      done()
    },
  })
  return { stream, text: () => Buffer.concat(chunks).toString() }
}

/** Runs one command as src/cli/coppice.ts does, in this process: one more costs 60 ms and more. */
export const runHere = async (
  argv: readonly string[],
  { cwd, env, input }: { readonly cwd: string; readonly env: Record<string, string>; readonly input: Buffer },
): Promise<Ended> => {
  const [out, err] = [collecting(), collecting()]
  const around = {
    env,
    stdout: out.stream,
    stderr: err.stream,
    stdin: Readable.from(input.length === 0 ? [] : [input]),
    argv: ['node', 'coppice', ...argv],
    cwd: () => cwd,
  } as unknown as NodeJS.Process
  const code = await obey(argv, around).catch((error: unknown) => {
    err.stream.write(`coppice: ${safeName(messageOf(error))}\n`)
    if (argv.includes('--json')) err.stream.write(`${JSON.stringify(jsonOf(error))}\n`)
    return exitCodeOf(error)
  })
  return { code, out: out.text(), err: err.text() }
}

const obey = async (argv: readonly string[], around: NodeJS.Process): Promise<number> => {
  const asked = parse(argv, '0.0.0')
  if (asked.kind === 'text') return 0
  const { command, args, options, globals } = asked
  const load = loaders[command.name]
  if (load === undefined) throw notYet(`the command ${command.name}`)
  const context = await makeContext(globals, around, around.cwd())
  const { run } = await load()
  try {
    return (await run(context, args, new Options(options))) ?? 0
  } finally {
    await Promise.all([context.out.flush(), context.err.flush()])
    await context.close()
  }
}
