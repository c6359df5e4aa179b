import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type CommandSpec, commands, globalOptions, type OptionSpec } from '../../src/cli/table.js'
import { openStore } from '../../src/session/store/store.js'
import { Seeded } from '../sim/random.js'
import { type Ended, runHere } from './cli-run.js'
import { mutated } from './mutations.js'
import { fuzz, type Tally, type Until } from './tally.js'

/** A home, a store with a session, a workspace, and a folder that is none of ours and must stay as it is. */
interface Grounds {
  readonly folder: string
  readonly store: string
  readonly workspace: string
  readonly ids: readonly string[]
}

const draftOf = (content: string): object => ({ type: 'message', role: 'user', content })

const grounds = async (): Promise<Grounds> => {
  const folder = mkdtempSync(join(tmpdir(), 'coppice-fuzz-'))
  const [store, workspace] = [join(folder, 'store'), join(folder, 'workspace')]
  for (const name of ['workspace/inner', 'home', 'outside'])
    mkdirSync(join(folder, name), { recursive: true })
  writeFileSync(join(folder, 'outside/precious'), 'keep me')
  writeFileSync(join(workspace, 'a.txt'), 'text')
  const made = await openStore(store)
  const session = await made.create({ workspace })
  const events = await session.append([draftOf('one'), draftOf('two')] as never)
  session.close()
  made.close()
  return { folder, store, workspace, ids: [session.id, ...events.map(({ id }) => id)] }
}

/** Commands that go on until someone ends them, or that look at the machine rather than at a store. */
const leftOut = new Set(['watch', 'demo', 'mcp', 'shell'])

/** What nobody means. Where an option names a path, none of these: there it is the user's word where to write. */
const hostile: readonly string[] = [
  ...[
    '',
    ' ',
    '-',
    '--',
    '-1',
    '0',
    '1e999',
    'NaN',
    '0x10',
    '99999999999999999999',
    '1.5',
    'null',
    'undefined',
  ],
  ...[
    '../outside',
    '../../outside/precious',
    '/etc/passwd',
    '..\\outside',
    './',
    '..',
    '.',
    '%2e%2e%2f',
    '~',
    '~/x',
  ],
  ...[
    '@',
    '@^',
    '@^^^^^^^^^^^^^',
    '@{1}',
    '@~3',
    ':/x',
    '__proto__',
    'constructor',
    'toString',
    'hasOwnProperty',
  ],
  ...[
    '\u001b[2J',
    '\u0007',
    'a\nb',
    'a\rb',
    '\u202egnp',
    '\ud800',
    'é'.repeat(300),
    'a'.repeat(20_000),
    '$(touch x)',
  ],
  ...['`x`', '"', "'", '*', '[', '(', '\\', '{"a":1}', '2026-13-45', '-h', '--help', '--version', '--json'],
]

const namesPath = ({ flags }: OptionSpec): boolean => /<(dir|file|path|folder|out)/.test(flags)

const argsFrom = (seeded: Seeded, { ids, workspace }: Grounds): readonly string[] => {
  const known = (): string => {
    const id = seeded.pick(ids)
    return seeded.chance(0.5) ? id : id.slice(0, seeded.between(0, 12))
  }
  const word = (): string => (seeded.chance(0.35) ? known() : seeded.pick(hostile))
  const inside = (): string => join(workspace, seeded.pick(['a.txt', 'inner', 'new', 'inner/new.html', '']))
  const optionFrom = (option: OptionSpec): readonly string[] => {
    const names = option.flags.split(/,? /).filter((name) => name.startsWith('-'))
    const name = seeded.pick(names)
    if (!/[<[]/.test(option.flags)) return [name]
    const value = namesPath(option)
      ? inside()
      : option.choices !== undefined && seeded.chance(0.5)
        ? seeded.pick(option.choices)
        : word()
    return [name, value]
  }
  const spec: CommandSpec = seeded.pick(commands.filter(({ name }) => !leftOut.has(name)))
  const options = [
    ...(spec.options ?? []),
    ...globalOptions.filter(({ flags }) => !namesPath({ flags, text: '' })),
  ]
  const args = [spec.name]
  for (const argument of spec.args ?? [])
    if (seeded.chance(0.9)) args.push(/path|file|dir|folder/.test(argument) ? inside() : word())
  for (let left = seeded.below(4); left > 0 && options.length > 0; left--)
    args.push(...optionFrom(seeded.pick(options)))
  if (seeded.chance(0.1)) args.splice(seeded.below(args.length), 0, seeded.pick(hostile))
  return args
}

const inputFrom = (seeded: Seeded): Buffer => {
  const drafts = [
    draftOf('hi'),
    { type: 'status', note: true, status: 'processing' },
    draftOf('x'.repeat(500)),
  ]
  const lines = Buffer.from(drafts.map((draft) => `${JSON.stringify(draft)}\n`).join(''))
  return seeded.chance(0.3) ? lines : seeded.chance(0.2) ? Buffer.alloc(0) : mutated(lines, seeded)
}

/** What may not change, whatever is asked: the folder beside, and what stands next to the store. */
const stateOf = ({ folder }: Grounds): string => {
  const hash = createHash('sha256')
  for (const name of readdirSync(folder).sort()) hash.update(`${name}\n`)
  for (const name of readdirSync(join(folder, 'outside'), { recursive: true }).sort())
    hash.update(`${String(name)}\n`)
  hash.update(readFileSync(join(folder, 'outside/precious')))
  return hash.digest('hex')
}

const problemOf = ({ code, err }: Ended): string | null => {
  if (code < 0 || code > 5 || !Number.isInteger(code)) return `exit code ${code}`
  if (/\n\s+at .*[(:]/.test(err)) return 'a stack trace'
  if (err.includes('this is a fault of coppice')) return 'an error of ours'
  const lines = err.split('\n').filter((line) => line !== '' && !line.startsWith('{'))
  const isRefused = code === 2 || code === 3 || code === 5
  if (isRefused && lines.length === 0) return 'no word of what is wrong'
  const strange = lines.find((line) => !line.startsWith('coppice: '))
  if (isRefused && strange !== undefined) return `more than one line: ${strange}`
  if (code === 2 && lines.length > 1) return `${lines.length} lines for a wrong usage`
  return [...err].some((char) => char === '\u001b' || char === '\u0007') ? 'a control character' : null
}

/** Whatever the arguments and stdin are: an exit code of the table, one line of error, and no file touched elsewhere. */
export const fuzzCommands = async (until: Until): Promise<Tally> => {
  const ground = await grounds()
  const { folder, store, workspace } = ground
  const before = stateOf(ground)
  const home = process.env.HOME
  process.env.HOME = join(folder, 'home')
  const env = { HOME: join(folder, 'home'), COPPICE_HOME: store, COPPICE_STORE: store }
  try {
    return await fuzz(until, async (seed) => {
      const seeded = new Seeded(seed)
      const args = argsFrom(seeded, ground)
      const ended = await runHere(args, { cwd: workspace, env, input: inputFrom(seeded) })
      const problem = stateOf(ground) === before ? problemOf(ended) : 'a file outside was touched'
      if (problem !== null)
        throw new Error(`${problem}: ${JSON.stringify(args).slice(0, 300)}: ${ended.err.slice(0, 400)}`)
    })
  } finally {
    if (home === undefined) delete process.env.HOME
    else process.env.HOME = home
    rmSync(folder, { recursive: true, force: true })
  }
}
