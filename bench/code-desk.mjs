// @ts-check
/**
 * The engine of checkpoints below the session, in a workspace of its own. dist/ has only the public surface, so it is
 * bundled from its source, to where it finds the native modules that cannot be bundled.
 */
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { buildSync } from 'esbuild'
import { root } from '../scripts/built.mjs'

const bundle = join(root, 'node_modules', '.cache', 'coppice-bench', 'checkpoints.mjs')
const sources = ['checkpoints/checkpoints', 'projections/code-state', 'events/system']

/** Once a run: the cells load what it made. */
export function bundleEngine() {
  buildSync({
    stdin: {
      contents: sources.map((path) => `export * from './src/${path}.js'`).join('\n'),
      resolveDir: root,
      loader: 'ts',
    },
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    external: ['fs-native-extensions'],
    outfile: bundle,
    logLevel: 'warning',
  })
}

/**
 * @typedef {typeof import('../src/checkpoints/checkpoints.js') & typeof import('../src/projections/code-state.js')
 *   & typeof import('../src/events/system.js')} Engine
 * @typedef {import('../src/events/file-record.js').CodeState} CodeState
 */

/** @returns {Promise<Engine>} */
const engine = () => import(pathToFileURL(bundle).href)

/** Files whose syncs do nothing: what is measured then is the work, not the disk. @param {import('../src/index.js').Fs} fs @returns {import('../src/index.js').Fs} */
const unsynced = (fs) => ({
  ...fs,
  open: (path, mode) => {
    const file = fs.open(path, mode)
    file.sync = async () => {}
    return file
  },
  syncDir: async () => {},
})

/** @param {number} i */
const idOf = (i) => i.toString(16).padStart(32, '0')

/** A workspace, and a session as far as checkpoints see it. */
export class CodeDesk {
  /** @type {import('../src/index.js').Event[]} */
  events = [{ id: idOf(0), parent: null, at: new Date().toISOString(), type: 'session' }]

  /** @param {Engine} engine @param {string} folder @param {import('../src/checkpoints/checkpoints.js').Checkpoints} checkpoints */
  constructor(engine, folder, checkpoints) {
    this.engine = engine
    this.folder = folder
    this.checkpoints = checkpoints
    this.session = idOf(0)
    this.workspace = join(folder, 'work')
    this.repository = join(folder, 'history', '.git')
    /** @type {CodeState} */
    this.known = engine.codeStateOf(this.events)
  }

  /** @param {string} parent @param {{ sync: boolean }} how */
  static async at(parent, { sync }) {
    const loaded = await engine()
    const folder = mkdtempSync(join(parent, 'code-'))
    const workspace = join(folder, 'work')
    mkdirSync(workspace)
    const { systemPorts } = loaded
    const fs = sync ? systemPorts.fs : unsynced(systemPorts.fs)
    const checkpoints = new loaded.Checkpoints({
      ...systemPorts,
      fs,
      folder: join(folder, 'history'),
      workspace,
      home: '/home',
      exclude: [],
    })
    return new CodeDesk(loaded, folder, checkpoints)
  }

  /** @param {string} name @param {string} text */
  write(name, text) {
    const path = join(this.workspace, name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  }

  /** Takes a checkpoint: of these files, or of every tracked one. @param {readonly string[]} [paths] */
  async take(paths) {
    const { checkpoint } = await settledValue(
      this.checkpoints.take({
        session: this.session,
        reason: 'after-tool',
        known: this.known,
        ...(paths === undefined ? {} : { paths }),
      }),
    )
    if (checkpoint === null || 'failed' in checkpoint)
      throw new Error(`no checkpoint: ${JSON.stringify(checkpoint)}`)
    return checkpoint
  }

  /** As the log would keep it. @param {Awaited<ReturnType<CodeDesk['take']>>} checkpoint */
  keep(checkpoint) {
    const { length } = this.events
    const at = new Date().toISOString()
    /** @type {import('../src/index.js').Event} */
    const event = { id: idOf(length), parent: idOf(length - 1), at, type: 'checkpoint', ...checkpoint }
    this.events.push(event)
    this.known = this.engine.codeStateAfter(this.known, event)
  }

  /** What going back to a state would do. @param {CodeState} target */
  preview(target) {
    return settledValue(this.checkpoints.preview({ current: this.known, target, choice: {} }))
  }
}

/** @template T @param {import('fp-ts/lib/TaskEither.js').TaskEither<Error, T>} task */
export async function settledValue(task) {
  const result = await task()
  if (result._tag === 'Left') throw result.left
  return result.right
}
